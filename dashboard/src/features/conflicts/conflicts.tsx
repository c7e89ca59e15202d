import type { Conflict, ConflictsPage, Keep, ResolveResult, SettledConflict, SettledPage } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { Button, Paper, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { ConflictItem } from './conflict-item.tsx';
import { ConflictTools } from './conflict-tools.tsx';
import classes from './conflicts.module.css';
import { askMerge, askResolve, choiceOf } from './resolve-conflicts.ts';
import { SettledList } from './settled-list.tsx';
import { useSettle } from './use-settle.ts';
import { type Undo, useUndo } from './use-undo.ts';

const pageItems = 100;
const pageItemsMax = 1_000;

type Result = ResolveResult['results'][number];

/** The unsettled conflicts: both versions of each, and the choice between them, for one or for many at once. */
export function Conflicts() {
  const status = useStatus();
  const [limit, setLimit] = useState(pageItems);
  const { data, error, again } = useApi<ConflictsPage>(`/conflicts?limit=${limit}`, status.operations);
  const { data: past, again: pastAgain } = useApi<SettledPage>('/conflicts/settled', status.operations);
  const [search, setSearch] = useSearchParams();
  const asked = search.get('copy');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sayer = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  /** Index in the list of a conflict that was settled alone; undefined for many. */
  const settledPlace = useRef<number>(undefined);
  const { isBusy, results, said, justSettled, isGone, settle, say } = useSettle(() => {
    setSelected(new Set());
    again();
    pastAgain();
  });

  const conflicts = (data?.conflicts ?? []).filter((conflict) => !isGone(conflict));
  // A link may also name the original instead of the copy.
  const open = (conflicts.find(({ copy }) => copy.path === asked) ?? conflicts.find(({ path }) => path === asked))?.copy
    .path;
  const chosen = conflicts.filter(({ copy }) => selected.has(copy.path));
  const rest = (data?.total ?? 0) - (data?.conflicts.length ?? 0);

  const undo = useUndo(({ copy, path }) => {
    say(`${path} is in conflict again, as it was.`);
    setSearch({ copy });
    sayer.current?.focus();
    again();
    pastAgain();
  });

  const settleOne = (conflict: Conflict, ask: () => Promise<Result>): void => {
    settledPlace.current = conflicts.indexOf(conflict);
    void settle([conflict], async () => [await ask()]);
  };
  const keepIn = (wanted: readonly Conflict[], keep: Keep): void => {
    const [only] = wanted;
    settledPlace.current = wanted.length === 1 && only !== undefined ? conflicts.indexOf(only) : undefined;
    void settle(wanted, () => askResolve(wanted.map((conflict) => choiceOf(conflict, keep))));
  };

  // One that was settled alone has its way back in the sentence that says so.
  const undoable = past?.settled.find(({ copy, changed }) => copy === justSettled && changed === undefined);

  const marked = past?.settled.find(({ copy, path }) => copy === asked || path === asked);

  // The pressed button disappeared with its conflict: the focus moves to the next conflict, or to the result of many.
  useEffect(() => {
    if (results.size === 0 || (settledPlace.current !== undefined && document.activeElement !== document.body)) return;
    const toggles = list.current?.querySelectorAll<HTMLElement>('[aria-expanded]') ?? [];
    const next =
      settledPlace.current === undefined ? undefined : toggles[Math.min(settledPlace.current, toggles.length - 1)];
    (next ?? sayer.current)?.focus({ preventScroll: next === undefined });
  }, [results]);

  return (
    <View
      title="Conflicts"
      aside={
        conflicts.length === 0
          ? undefined
          : 'Two members changed the same file independently. The later version has the name; the other is in a conflict copy.'
      }
    >
      <div ref={sayer} role="status" tabIndex={-1} className={classes.said} data-shown={said !== '' || undefined}>
        {said}
        {undoable !== undefined && <UndoButton settled={undoable} undo={undo} />}
      </div>
      {error !== undefined && data === undefined && <Failed error={error} again={again} />}
      {data === undefined && error === undefined && <Loading />}
      {data !== undefined && conflicts.length === 0 && (
        <Empty title="There are no conflicts">
          When two members change the same file independently, both versions are kept, and listed here until a person
          chooses.
        </Empty>
      )}
      {asked !== null && asked !== justSettled && data !== undefined && rest === 0 && open === undefined && (
        <Text c="dimmed" className={classes.path}>
          {marked?.path ?? asked} is no longer in conflict{marked !== undefined && ': what was done is marked below'}.
        </Text>
      )}
      {conflicts.length > 0 && (
        <Paper withBorder className={classes.list}>
          <ConflictTools
            conflicts={conflicts}
            chosen={chosen}
            isBusy={isBusy}
            choose={(all) => setSelected(new Set(all.map(({ copy }) => copy.path)))}
            keep={(keep) => keepIn(chosen, keep)}
          />
          <ul ref={list} className={classes.items}>
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
                  toggle={() => setSearch(open === path ? {} : { copy: path })}
                  select={(isSelected) => {
                    const next = new Set(selected);
                    if (isSelected) next.add(path);
                    else next.delete(path);
                    setSelected(next);
                  }}
                  choose={(keep) => keepIn([conflict], keep)}
                  save={(content) => settleOne(conflict, () => askMerge(conflict, content))}
                />
              );
            })}
          </ul>
          {rest > 0 && <More rest={rest} show={limit < pageItemsMax ? () => setLimit(pageItemsMax) : undefined} />}
        </Paper>
      )}
      <SettledList settled={past?.settled ?? []} asked={asked} undo={undo} />
    </View>
  );
}

/** Undoes what was just done, next to the sentence that says it. */
function UndoButton({ settled, undo: { undoing, undo } }: { readonly settled: SettledConflict; readonly undo: Undo }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      ms="sm"
      aria-label={`Undo this for ${settled.path}`}
      loading={undoing !== undefined}
      onClick={() => void undo(settled)}
    >
      Undo
    </Button>
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
