import { entryType, type Operation } from '@lockstep/shared';
import { permissions } from '../../core/entry.ts';
import type { ActionRequest } from '../../core/plan/action.ts';
import { notHere } from '../integrity/current-version.ts';
import type { Draft, DraftContent } from '../ports/folder.ts';
import { type AccessParts, type Done, execute, journaled, pausedRefusal } from './access-parts.ts';
import { type Condition, conditionRefusal, type Refused, refused } from './condition.ts';
import { changeSettled, type Place, type PlaceAt } from './place.ts';

/** A conflict copy, in the version (`dotKey`) that a person saw. */
interface SettledCopy {
  readonly copy: string;
  readonly version: string;
}

/** The target of a file, and the conditions that must hold there. */
export interface Placement {
  readonly path: string;
  readonly condition: Condition;
  /** A conflict copy that the file settles: it is removed afterwards, and nothing is put if it has another version. */
  readonly settles?: SettledCopy | undefined;
}

/** The mode of a file that is new. */
const fileMode = 0o644;

/** The paths whose entries decide the place of the file. */
export function pathsOf({ path, settles }: Placement): readonly string[] {
  return settles === undefined ? [path] : [path, settles.copy];
}

/** The place for the file, or a refusal: asked before its bytes come, and again afterwards. Executed under the folder lock. */
export async function freePlace({ path, condition, settles }: Placement, placeAt: PlaceAt): Promise<Place | Refused> {
  const copy = settles && (await seenCopy(settles, placeAt));
  if (copy !== undefined && 'done' in copy) return copy;
  const place = await placeAt(path);
  if ('done' in place) return place;
  const { operation } = place.current;
  if (operation !== undefined && entryType(operation) === 'directory') {
    return refused('not-written', `There is a directory at ${path}: rename or delete it first.`, operation);
  }
  return conditionRefusal(condition, path, operation) ?? place;
}

/** Puts a finished draft into the folder, and journals it as a user's change. The replaced file goes to history. */
export async function placeDraft(
  parts: AccessParts,
  placement: Placement,
  draft: Draft,
  content: DraftContent,
): Promise<Done | Refused> {
  const { path, settles } = placement;
  const paused = pausedRefusal(parts);
  if (paused !== undefined) return paused;
  const placed = await changeSettled(parts, pathsOf(placement), (placeAt) =>
    place(parts, placement, { draft, content, placeAt }),
  );
  if ('done' in placed && !placed.done) return placed;
  const done: Done =
    'done' in placed ? placed : { done: true, isNew: placed.isNew, operation: await journaled(parts, path, content) };
  if (settles === undefined) return done;
  // Only when the content is journaled: this order shows how the conflict was settled.
  const refusal = await removeCopy(parts, placement);
  await journaled(parts, settles.copy);
  return refusal ?? done;
}

/** Executed under the folder lock. */
async function place(
  parts: AccessParts,
  placement: Placement,
  {
    draft,
    content: { content, blocks, size },
    placeAt,
  }: { readonly draft: Draft; readonly content: DraftContent; readonly placeAt: PlaceAt },
): Promise<Done | Refused | { readonly isNew: boolean }> {
  const { context } = parts;
  const { path } = placement;
  const free = await freePlace(placement, placeAt);
  if ('done' in free) return free;
  const { current, parents } = free;
  const before = current.operation;
  // The same bytes again change nothing: the file keeps its time.
  if (before !== undefined && before.content === content) return { done: true, isNew: false, operation: before };
  const requests: ActionRequest[] = parents.map((action) => ({ action }));
  const isFile = before?.content !== undefined;
  requests.push({
    action: {
      do: 'write',
      path,
      expected: 'fingerprint' in current ? current.fingerprint : 'absent',
      content,
      blocks,
      size,
      mode: isFile && 'fingerprint' in current ? permissions(current.fingerprint.mode) : fileMode,
      mtimeUs: context.clock.wallMs() * 1_000,
      source: { from: 'draft', name: draft.name },
    },
    keep: before?.content,
  });
  const failure = await execute(parts, requests, path);
  if (failure !== undefined) return failure;
  if ('isRemote' in current) await replaceRemote(parts, current.operation);
  return { isNew: before === undefined };
}

/** Notes that the new file replaces a version that this disk never showed: its author knew that version. */
async function replaceRemote({ context }: AccessParts, { path, origin, seq }: Operation): Promise<void> {
  const { journal, folder } = context;
  const [seen] = await folder.observe([{ path }]);
  if (seen === undefined || !('fingerprint' in seen) || seen.fingerprint === undefined) return;
  // Racy, and without a content: the file is read before this row is used.
  journal.disk.record([{ path, entry: { dot: { origin, seq }, fingerprint: seen.fingerprint, racy: true } }]);
}

/** The conflict copy on which journal and disk agree, or a refusal if it is not the one that the person saw. */
async function seenCopy({ copy, version }: SettledCopy, placeAt: PlaceAt) {
  const place = await placeAt(copy);
  if ('done' in place) return place;
  const { current } = place;
  if ('isRemote' in current) return refused('not-written', notHere(copy));
  const other = conditionRefusal({ is: 'versions', versions: new Set([version]) }, copy, current.operation);
  if (other !== undefined) return other;
  return 'fingerprint' in current
    ? current
    : refused('no-entry', `${copy} is gone: this conflict is already resolved.`);
}

/** Removes the conflict copy that a file settled. Its content goes to history. */
async function removeCopy(
  parts: AccessParts,
  { path, settles }: { readonly path: string; readonly settles?: SettledCopy | undefined },
): Promise<Refused | undefined> {
  if (settles === undefined) return undefined;
  const removed = await changeSettled(parts, [settles.copy], async (placeAt) => {
    return (await removeSeen(parts, settles, placeAt)) ?? {};
  });
  return 'done' in removed
    ? refused(removed.code, `${path} was saved, but the conflict is not settled. ${removed.reason}`)
    : undefined;
}

async function removeSeen(parts: AccessParts, settled: SettledCopy, placeAt: PlaceAt): Promise<Refused | undefined> {
  const seen = await seenCopy(settled, placeAt);
  if ('done' in seen) return seen;
  const { fingerprint: expected, operation } = seen;
  const { content } = operation;
  const action = { do: 'unlink', path: settled.copy, expected, content } as const;
  return execute(parts, [{ action, keep: content }], settled.copy);
}
