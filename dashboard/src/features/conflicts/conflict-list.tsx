import type { Conflict, Keep } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { Button, Paper, Stack, Text } from '@mantine/core';
import type { RefObject } from 'react';
import { ConflictItem } from './conflict-item.tsx';
import { ConflictTools } from './conflict-tools.tsx';
import classes from './conflicts.module.css';
import type { Settling } from './use-settle.ts';

/** The unsettled conflicts, of which some can be selected and one is open. */
export function ConflictList({
  ref,
  conflicts,
  rest,
  more,
  open,
  toggle,
  selected,
  select,
  settling: { isBusy, results },
  keep,
  save,
}: {
  readonly ref: RefObject<HTMLUListElement | null>;
  readonly conflicts: readonly Conflict[];
  /** The number of conflicts that are not in the list. */
  readonly rest: number;
  /** Adds them to the list; undefined if it is full. */
  readonly more: (() => void) | undefined;
  /** The path of the copy of the open conflict. */
  readonly open: string | undefined;
  readonly toggle: (copy: string) => void;
  /** The paths of the copies of the selected conflicts. */
  readonly selected: ReadonlySet<string>;
  readonly select: (selected: ReadonlySet<string>) => void;
  readonly settling: Pick<Settling, 'isBusy' | 'results'>;
  readonly keep: (conflicts: readonly Conflict[], keep: Keep) => void;
  readonly save: (conflict: Conflict, content: Uint8Array<ArrayBuffer>) => void;
}) {
  const chosen = conflicts.filter(({ copy }) => selected.has(copy.path));
  const selectOne = (path: string, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(path);
    else next.delete(path);
    select(next);
  };
  return (
    <Paper withBorder className={classes.list}>
      <ConflictTools
        conflicts={conflicts}
        chosen={chosen}
        isBusy={isBusy}
        choose={(all) => select(new Set(all.map(({ copy }) => copy.path)))}
        keep={(wanted) => keep(chosen, wanted)}
      />
      <ul ref={ref} className={classes.items}>
        {conflicts.map((conflict) => {
          const { path } = conflict.copy;
          const refusal = results.get(path);
          return (
            <ConflictItem
              key={path}
              conflict={conflict}
              isOpen={open === path}
              isSelected={selected.has(path)}
              isBusy={isBusy}
              refusal={refusal?.done === false ? refusal.reason : undefined}
              toggle={() => toggle(path)}
              select={(isSelected) => selectOne(path, isSelected)}
              choose={(wanted) => keep([conflict], wanted)}
              save={(content) => save(conflict, content)}
            />
          );
        })}
      </ul>
      {rest > 0 && <More rest={rest} show={more} />}
    </Paper>
  );
}

/** The number of conflicts below the list. `show` adds them to the list. */
function More({ rest, show }: { readonly rest: number; readonly show: (() => void) | undefined }) {
  return (
    <Stack align="center" p="sm" gap={4}>
      <Text size="sm" c="dimmed">
        {formatItems(rest, 'more conflict')}
      </Text>
      {show !== undefined && (
        <Button variant="default" size="xs" onClick={show}>
          Show more
        </Button>
      )}
    </Stack>
  );
}
