import type { Conflict, Keep } from '@lockstep/shared/api';
import { formatCount, formatItems } from '@lockstep/shared/present';
import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import classes from './conflicts.module.css';

/** Selects conflicts, and settles the selected ones alike. More than one asks first. */
export function ConflictTools({
  conflicts,
  chosen,
  isBusy,
  choose,
  keep,
}: {
  readonly conflicts: readonly Conflict[];
  readonly chosen: readonly Conflict[];
  readonly isBusy: boolean;
  readonly choose: (conflicts: readonly Conflict[]) => void;
  readonly keep: (keep: Keep) => void;
}) {
  const [asking, setAsking] = useState<Keep>();
  return (
    <Group className={classes.tools} gap="sm" justify="space-between">
      <Checkbox
        label={
          chosen.length === 0 ? `Select all ${formatCount(conflicts.length)}` : `${formatCount(chosen.length)} selected`
        }
        checked={chosen.length === conflicts.length}
        indeterminate={chosen.length > 0 && chosen.length < conflicts.length}
        onChange={({ currentTarget }) => choose(currentTarget.checked ? conflicts : [])}
      />
      <Group gap="xs">
        {(['original', 'copy', 'both'] as const).map((each) => (
          <Button
            key={each}
            variant="default"
            size="xs"
            disabled={chosen.length === 0 || isBusy}
            onClick={() => (chosen.length > 1 ? setAsking(each) : keep(each))}
          >
            {buttons[each]}
          </Button>
        ))}
      </Group>
      <ConfirmDialog
        title={asking === undefined ? '' : `${buttons[asking]} in ${formatItems(chosen.length, 'conflict')}?`}
        isOpen={asking !== undefined}
        confirm={asking === undefined ? '' : buttons[asking]}
        answer={(isYes) => {
          setAsking(undefined);
          if (isYes && asking !== undefined) keep(asking);
        }}
      >
        <Text>{asking !== undefined && meanings[asking]} This applies to every member.</Text>
      </ConfirmDialog>
    </Group>
  );
}

const buttons: Record<Keep, string> = {
  original: 'Keep the current versions',
  copy: 'Keep the other versions',
  both: 'Keep both versions',
};

const meanings: Record<Keep, string> = {
  original: 'The versions that have the name stay; the conflict copies are removed.',
  copy: 'Each conflict copy replaces the current version, which has the name now.',
  both: 'Each copy gets an ordinary name next to the original, such as “notes (from bee).txt”.',
};
