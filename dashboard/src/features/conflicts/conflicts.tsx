import type { Conflict, ConflictsPage, Keep, ResolveResult, SettledConflict, SettledPage } from '@lockstep/shared/api';
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { ConflictList } from './conflict-list.tsx';
import classes from './conflicts.module.css';
import { askMerge, askResolve, choiceOf } from './resolve-conflicts.ts';
import { SettledList } from './settled-list.tsx';
import { useSettle } from './use-settle.ts';
import { useSettledFocus } from './use-settled-focus.ts';
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
  const settling = useSettle(() => {
    setSelected(new Set());
    again();
    pastAgain();
  });
  const { said, justSettled, isGone, settle, say } = settling;
  const { sayer, list, leaves } = useSettledFocus(settling.results);

  const conflicts = (data?.conflicts ?? []).filter((conflict) => !isGone(conflict));
  // A link may also name the original instead of the copy.
  const open = (conflicts.find(({ copy }) => copy.path === asked) ?? conflicts.find(({ path }) => path === asked))?.copy
    .path;
  const rest = (data?.total ?? 0) - (data?.conflicts.length ?? 0);

  const undo = useUndo(({ copy, path }) => {
    say(`${path} is in conflict again, as it was.`);
    setSearch({ copy });
    sayer.current?.focus();
    again();
    pastAgain();
  });

  const settleOne = (conflict: Conflict, ask: () => Promise<Result>): void => {
    leaves(conflicts.indexOf(conflict));
    void settle([conflict], async () => [await ask()]);
  };
  const keepIn = (wanted: readonly Conflict[], keep: Keep): void => {
    const [only] = wanted;
    leaves(wanted.length === 1 && only !== undefined ? conflicts.indexOf(only) : undefined);
    void settle(wanted, () => askResolve(wanted.map((conflict) => choiceOf(conflict, keep))));
  };

  // One that was settled alone has its way back in the sentence that says so.
  const undoable = past?.settled.find(({ copy, changed }) => copy === justSettled && changed === undefined);

  const marked = past?.settled.find(({ copy, path }) => copy === asked || path === asked);

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
        <ConflictList
          ref={list}
          conflicts={conflicts}
          rest={rest}
          more={limit < pageItemsMax ? () => setLimit(pageItemsMax) : undefined}
          open={open}
          toggle={(copy) => setSearch(open === copy ? {} : { copy })}
          selected={selected}
          select={setSelected}
          settling={settling}
          keep={keepIn}
          save={(conflict, content) => settleOne(conflict, () => askMerge(conflict, content))}
        />
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
