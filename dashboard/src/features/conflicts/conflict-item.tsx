import type { Conflict, Keep } from '@lockstep/shared/api';
import { Alert, Checkbox, UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useId } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { ConflictVersions } from './conflict-versions.tsx';
import classes from './conflicts.module.css';

/** One conflict in the list; when it is open, with both versions. */
export function ConflictItem({
  conflict,
  isOpen,
  isSelected,
  isBusy,
  refusal,
  toggle,
  select,
  choose,
  save,
}: {
  readonly conflict: Conflict;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  readonly isBusy: boolean;
  /** The reason why the last attempt to settle it failed. */
  readonly refusal: string | undefined;
  readonly toggle: () => void;
  readonly select: (isSelected: boolean) => void;
  readonly choose: (keep: Keep) => void;
  readonly save: (content: Uint8Array<ArrayBuffer>) => void;
}) {
  const { path, loser, loserAt, winner } = conflict;
  const versions = useId();
  return (
    <li className={classes.item}>
      <div className={classes.head}>
        <Checkbox
          aria-label={`Select ${path}, ${loser}’s version`}
          checked={isSelected}
          onChange={({ currentTarget }) => select(currentTarget.checked)}
        />
        <UnstyledButton className={classes.toggle} aria-expanded={isOpen} aria-controls={versions} onClick={toggle}>
          <IconChevronRight size={16} aria-hidden="true" className={classes.chevron} />
          <span className={classes.path}>{path}</span>
          <span className={classes.about}>
            {winner === null ? 'nothing' : winner} has the name, {loser} the copy
          </span>
          <span className={classes.when}>{loserAt > 0 && <Moment at={loserAt} />}</span>
        </UnstyledButton>
      </div>
      {refusal !== undefined && (
        <Alert color="orange" variant="outline" role="alert" mx="md" mb="sm" title="This was not settled">
          {refusal}
        </Alert>
      )}
      {isOpen && (
        <div id={versions} className={classes.versions}>
          <ConflictVersions conflict={conflict} isBusy={isBusy} choose={choose} save={save} />
        </div>
      )}
    </li>
  );
}
