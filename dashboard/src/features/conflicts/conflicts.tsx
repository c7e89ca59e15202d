import type { Conflict, ConflictsPage, Keep, ResolveResult, SettledPage } from '@lockstep/shared/api';
import { formatCount, formatItems } from '@lockstep/shared/present';
import { Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { ConflictItem } from './conflict-item.tsx';
import classes from './conflicts.module.css';
import { askMerge, askResolve, choiceOf } from './resolve-conflicts.ts';
import { SettledList } from './settled-list.tsx';
import { useUndo } from './use-undo.ts';

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
  const [asking, setAsking] = useState<Keep>();
  const [isBusy, setBusy] = useState(false);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [said, setSaid] = useState('');
  const [justSettled, setJustSettled] = useState<string>();
  const sayer = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  /** Index in the list of a conflict that was settled alone; undefined for many. */
  const settledPlace = useRef<number>(undefined);

  /** Settled conflicts leave the list at once: the journal reports them a moment later. An undone one has another version. */
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const conflicts = (data?.conflicts ?? []).filter((conflict) => !gone.has(versionOf(conflict)));
  // A link may also name the original instead of the copy.
  const open = (conflicts.find(({ copy }) => copy.path === asked) ?? conflicts.find(({ path }) => path === asked))?.copy
    .path;
  const chosen = conflicts.filter(({ copy }) => selected.has(copy.path));
  const rest = (data?.total ?? 0) - (data?.conflicts.length ?? 0);

  const undo = useUndo(({ copy, path }) => {
    setSaid(`${path} is in conflict again, as it was.`);
    setJustSettled(undefined);
    setSearch({ copy });
    sayer.current?.focus();
    again();
    pastAgain();
  });

  const settle = async (wanted: readonly Conflict[], ask: () => Promise<readonly Result[]>): Promise<void> => {
    const [only] = wanted;
    settledPlace.current = wanted.length === 1 && only !== undefined ? conflicts.indexOf(only) : undefined;
    setAsking(undefined);
    setBusy(true);
    const answers = await ask();
    const done = new Set(answers.filter((result) => result.done).map(({ copy }) => copy));
    setGone((before) => new Set([...before, ...wanted.filter(({ copy }) => done.has(copy.path)).map(versionOf)]));
    setResults((before) => new Map([...before, ...answers.map((result) => [result.copy, result] as const)]));
    setSaid(sentenceOf(answers));
    setJustSettled(wanted.length === 1 && only !== undefined && done.has(only.copy.path) ? only.copy.path : undefined);
    setSelected(new Set());
    setBusy(false);
    again();
    pastAgain();
  };
  const keepIn = (wanted: readonly Conflict[], keep: Keep): Promise<void> =>
    settle(wanted, () => askResolve(wanted.map((conflict) => choiceOf(conflict, keep))));

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
        {undoable !== undefined && (
          <Button
            variant="default"
            size="compact-sm"
            ms="sm"
            aria-label={`Undo this for ${undoable.path}`}
            loading={undo.undoing !== undefined}
            onClick={() => void undo.undo(undoable)}
          >
            Undo
          </Button>
        )}
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
          <Group className={classes.tools} gap="sm" justify="space-between">
            <Checkbox
              label={
                chosen.length === 0
                  ? `Select all ${formatCount(conflicts.length)}`
                  : `${formatCount(chosen.length)} selected`
              }
              checked={chosen.length === conflicts.length}
              indeterminate={chosen.length > 0 && chosen.length < conflicts.length}
              onChange={({ currentTarget }) =>
                setSelected(new Set(currentTarget.checked ? conflicts.map(({ copy }) => copy.path) : []))
              }
            />
            <Group gap="xs">
              {(['original', 'copy', 'both'] as const).map((keep) => (
                <Button
                  key={keep}
                  variant="default"
                  size="xs"
                  disabled={chosen.length === 0 || isBusy}
                  onClick={() => (chosen.length > 1 ? setAsking(keep) : void keepIn(chosen, keep))}
                >
                  {buttons[keep]}
                </Button>
              ))}
            </Group>
          </Group>
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
                  choose={(keep) => void keepIn([conflict], keep)}
                  save={(content) => void settle([conflict], async () => [await askMerge(conflict, content)])}
                />
              );
            })}
          </ul>
          {rest > 0 && (
            <Stack align="center" p="sm" gap={4}>
              <Text size="sm" c="dimmed">
                {formatItems(rest, 'more conflict')}
              </Text>
              {limit < pageItemsMax && (
                <Button variant="default" size="xs" onClick={() => setLimit(pageItemsMax)}>
                  Show more
                </Button>
              )}
            </Stack>
          )}
        </Paper>
      )}
      <SettledList settled={past?.settled ?? []} asked={asked} undo={undo} />
      <ConfirmDialog
        title={asking === undefined ? '' : `${buttons[asking]} in ${formatItems(chosen.length, 'conflict')}?`}
        isOpen={asking !== undefined}
        confirm={asking === undefined ? '' : buttons[asking]}
        answer={(isYes) => (isYes && asking !== undefined ? void keepIn(chosen, asking) : setAsking(undefined))}
      >
        <Text>{asking !== undefined && meanings[asking]} This applies to every member.</Text>
      </ConfirmDialog>
    </View>
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

/** Names the version of a conflict copy. */
function versionOf({ copy }: Conflict): string {
  return `${copy.path}\n${copy.origin}:${copy.seq}`;
}

/** The results in one sentence. */
function sentenceOf(results: readonly Result[]): string {
  const done = results.filter((result) => result.done);
  const left = results.length - done.length;
  const [only] = done;
  const where = done.length === 1 && only?.path !== undefined ? ` The copy is ${only.path} now.` : '';
  const settled = done.length === 0 ? '' : `${formatItems(done.length, 'conflict')} settled.${where}`;
  return left === 0
    ? settled
    : `${settled} ${formatItems(left, 'conflict')} could not be settled: the reason is below.`.trim();
}
