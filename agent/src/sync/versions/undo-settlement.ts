import { dotKey, type Operation } from '@lockstep/shared';
import type { Settlement } from '../../core/history/settlement.ts';
import { type CurrentAt, withCurrent } from '../integrity/current-version.ts';
import { placingRefusal } from '../integrity/placing.ts';
import type { ActionRequest, ContentSource } from '../ports/folder.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { put, type Restoration, type RestoreParts, settled, sourceOf } from './restore.ts';

/** A settled conflict. */
export interface Settled extends Settlement {
  /** The path of the conflict copy, and of the entry that it was a copy of. */
  readonly copy: string;
  readonly path: string;
  /** The operation that removed the copy. */
  readonly removal: Operation;
}

interface Sources {
  readonly lost: ContentSource | undefined;
  readonly before: ContentSource | undefined;
}

/** A sentence if something changed since the conflict was settled, so that it cannot be undone without overwriting that. */
export function changedSince({ journal }: Context, { copy, removal, by }: Settled): string | undefined {
  const isHead = (operation: Operation): boolean => {
    const [head] = journal.heads.at(operation.path);
    return head !== undefined && dotKey(head) === dotKey(operation);
  };
  if (!isHead(removal)) return `There is something at ${copy} again.`;
  if (by === undefined || isHead(by)) return undefined;
  return `${by.path} has changed since the conflict was settled: its versions are under Files.`;
}

/**
 * Undoes the settlement of a conflict in this member's folder, as a user would: the copy and the version at the path before are there
 * again, and all is journaled like any other change. Nothing that changed since is overwritten. On a disk with little room, history keeps
 * the contents for that long.
 */
export function undoSettlement(parts: RestoreParts, conflict: Settled): Promise<Restoration> {
  const contents = [conflict.lost, conflict.before].flatMap((version) => version?.content ?? []);
  return parts.oldVersions.hold(contents, () => undoHeld(parts, conflict));
}

async function undoHeld(parts: RestoreParts, conflict: Settled): Promise<Restoration> {
  const { context } = parts;
  const paths = [conflict.copy, conflict.path, ...(conflict.by === undefined ? [] : [conflict.by.path])];
  const settleAll = async (): Promise<readonly string[]> => {
    const open: string[] = [];
    for (const path of new Set(paths)) open.push(...(await settled(parts, path)));
    return open;
  };
  const [busy] = await settleAll();
  if (busy !== undefined) return refused(`${busy} is being written to now: try again when that has ended.`);
  const sources = await sourcesOf(parts, conflict);
  if (typeof sources === 'string') return refused(sources);
  const restoration = await withCurrent(context, paths, async (currentAt) => {
    const changed = changedSince(context, conflict);
    if (changed !== undefined) return refused(changed);
    return conflict.how === 'both'
      ? await renameBack(parts, conflict, currentAt)
      : await putBack(parts, { conflict, sources }, currentAt);
  });
  for (const path of paths) parts.localChanges.mark(path);
  await settleAll();
  return restoration;
}

/** The contents that must come back: all are here before anything is changed. A text says what is missing. */
async function sourcesOf(parts: RestoreParts, { how, lost, copy, path, before }: Settled): Promise<Sources | string> {
  if (how === 'both') return { lost: undefined, before: undefined };
  for (const [place, version] of [
    [copy, lost],
    [path, before],
  ] as const) {
    if (version === undefined) continue;
    const refusal = await placingRefusal(parts.context, { path: place, isDirectory: false, size: version.size ?? 0 });
    if (refusal !== undefined) return refusal.reason;
  }
  const first = await sourceOf(parts, lost);
  if (typeof first === 'string') return first;
  const second = before === undefined ? undefined : await sourceOf(parts, before);
  return typeof second === 'string' ? second : { lost: first, before: second };
}

/** Makes the copy again, then the version at the path. Executed under the folder lock. */
async function putBack(
  { context }: RestoreParts,
  { conflict, sources }: { readonly conflict: Settled; readonly sources: Sources },
  currentAt: CurrentAt,
): Promise<Restoration> {
  const { copy, path, lost, by, before } = conflict;
  const { restoration } = await put(context, { path: copy, version: lost, source: sources.lost }, currentAt);
  if (!restoration.done || by === undefined) return restoration;
  const original =
    before === undefined
      ? await removeAt(context, path, currentAt)
      : (await put(context, { path, version: before, source: sources.before }, currentAt)).restoration;
  return original.done ? original : refused(`The conflict copy is there again. ${original.reason}`);
}

/** Gives the copy its old name. Executed under the folder lock. */
async function renameBack(
  { context }: RestoreParts,
  { copy, by }: Settled,
  currentAt: CurrentAt,
): Promise<Restoration> {
  const from = by?.path ?? copy;
  const current = await currentAt(from);
  if (!('fingerprint' in current)) return refused('problem' in current ? current.problem : `${from} is gone.`);
  const action = {
    do: 'rename',
    from,
    to: copy,
    expectedFrom: current.fingerprint,
    expected: 'absent',
  } as const;
  return execute(context, { action }, from);
}

async function removeAt(context: Context, path: string, currentAt: CurrentAt): Promise<Restoration> {
  const current = await currentAt(path);
  if (!('fingerprint' in current)) return refused('problem' in current ? current.problem : `${path} is gone.`);
  const { fingerprint, operation } = current;
  return execute(
    context,
    { action: { do: 'unlink', path, expected: fingerprint, content: operation.content }, keep: operation.content },
    path,
  );
}

async function execute(context: Context, request: ActionRequest, path: string): Promise<Restoration> {
  const [result] = await applyActions(context, [request]);
  if (result?.result === 'done') return { done: true, changed: true };
  if (result?.result === 'problem') return refused(result.detail);
  return refused(`${path} changed in this moment, and was left as it is: look at it again.`);
}

function refused(reason: string): Restoration {
  return { done: false, reason };
}
