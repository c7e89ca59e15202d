import { entryType, type Operation } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { isSameContent } from '../../core/merge.ts';
import { noBytes } from '../../core/plan/action.ts';
import { type CurrentAt, type CurrentVersion, withCurrent } from '../integrity/current-version.ts';
import { directoryMode, missingParents, placingRefusal } from '../integrity/placing.ts';
import type { Action, ActionRequest, ContentSource } from '../ports/folder.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import type { OldVersions } from './old-versions.ts';

/** `changed`: false if the path had the version already. `reason`: a sentence that says why nothing was done. */
export type Restoration =
  | { readonly done: true; readonly changed: boolean }
  | { readonly done: false; readonly reason: string };

/** The parts of the engine that a restoration uses. */
export interface RestoreParts {
  readonly context: Context;
  readonly oldVersions: OldVersions;
  readonly localChanges: {
    /** Journals what users changed at the path and below it; resolves with the paths that did not come to rest. */
    settleAll(path: string, giveUp: Promise<void>): Promise<{ readonly unsettled: readonly string[] }>;
    mark(path: string): void;
  };
  readonly pause: { readonly isOn: boolean };
}

/** Refused entries that a person gets to see: most often all have one reason. */
const refusalsListedMax = 1_000;

/** A file that a program keeps writing is not replaced. */
const settleMsMax = 10_000;

/**
 * Puts the entry that `version` describes at `path` again, in this member's folder, as a user would: it is then journaled like any other
 * change. Earlier changes by users there are journaled first, and a replaced content goes to history. Only files, symbolic links and
 * missing directories are made; no step goes through a symbolic link.
 */
export async function restoreVersion(parts: RestoreParts, path: string, version: Operation): Promise<Restoration> {
  const unsettled = await settled(parts, path);
  if (unsettled.length > 0) return refused(`${path} is being written to now: try again when that has ended.`);
  const restoration = await restoreOne(parts, path, version);
  if (restoration.done && restoration.changed) await settled(parts, path);
  return restoration;
}

/** The outcome for the entries of a directory. */
export interface RestoredBelow {
  /** Entries that the directory has now. */
  readonly entries: number;
  /** The first of the entries that were refused, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly refusedCount: number;
  /** There are further entries, which were not tried. */
  readonly more: boolean;
}

/**
 * As `restoreVersion`, for each of these entries at or below `directory`, parents first, until `max` are done; a refused one does not stop
 * the others, and does not count.
 */
export async function restoreVersions(
  parts: RestoreParts,
  directory: string,
  versions: AsyncIterable<Operation>,
  max: number,
): Promise<RestoredBelow> {
  const refusals: { readonly path: string; readonly reason: string }[] = [];
  let entries = 0;
  let refusedCount = 0;
  let more = false;
  await settled(parts, directory);
  for await (const version of versions) {
    if (entries === max) {
      more = true;
      break;
    }
    const restoration = await restoreOne(parts, version.path, version);
    if (restoration.done) entries += 1;
    else {
      refusedCount += 1;
      if (refusals.length < refusalsListedMax) refusals.push({ path: version.path, reason: restoration.reason });
    }
  }
  await settled(parts, directory);
  return { entries, refused: refusals, refusedCount, more };
}

async function restoreOne(parts: RestoreParts, path: string, version: Operation): Promise<Restoration> {
  const { context } = parts;
  const isDirectory = entryType(version) === 'directory';
  const refusal = await placingRefusal(context, { path, isDirectory, size: version.size ?? 0 });
  if (refusal !== undefined) return refused(refusal.reason);
  const source = await sourceOf(parts, version);
  if (typeof source === 'string') return refused(source);
  const { restoration, touched } = await withCurrent(context, [path], (currentAt) =>
    put(context, { path, version, source }, currentAt),
  );
  for (const each of touched) parts.localChanges.mark(each);
  return restoration;
}

/** The source of the version's content, if it has one; fetched from another member if necessary. A text says why there is none. */
export async function sourceOf(
  { oldVersions, pause }: RestoreParts,
  version: Operation,
): Promise<ContentSource | undefined | string> {
  const { content, size } = version;
  if (content === undefined) return undefined;
  if (size === 0) return noBytes;
  const here = await oldVersions.findHere(content);
  if (here !== undefined) return here;
  if (pause.isOn) {
    return 'This disk does not have the content of that version, and this member is paused: run lockstep resume first.';
  }
  if (await oldVersions.obtain(version)) return { from: 'history' };
  return 'No member that is reached now has the content of that version: it may be gone, or on a member that is down.';
}

/** Journals what users changed at the path and below it. Resolves with the paths that did not come to rest in ten seconds. */
export function settled({ context, localChanges }: RestoreParts, path: string): Promise<readonly string[]> {
  let cancel = (): void => undefined;
  const giveUp = new Promise<void>((resolve) => {
    const timer = context.clock.after(settleMsMax, resolve);
    cancel = () => timer.cancel();
  });
  return localChanges
    .settleAll(path, giveUp)
    .then(({ unsettled }) => unsettled)
    .finally(() => cancel());
}

/** A version, its place, and the source of its content if it has one. */
export interface Put {
  readonly path: string;
  readonly version: Operation;
  readonly source: ContentSource | undefined;
}

/** Makes the entry of a version. Executed under the folder lock. `touched`: the paths whose entries were changed. */
export async function put(
  context: Context,
  { path, version, source }: Put,
  currentAt: CurrentAt,
): Promise<{ readonly restoration: Restoration; readonly touched: readonly string[] }> {
  const nothing = (reason: string) => ({ restoration: refused(reason), touched: [] });
  const parents = await missingParents(context, path);
  if (typeof parents === 'string') return nothing(parents);
  // Below a directory that is missing nothing is there, and nothing may be observed.
  const current: CurrentVersion = parents.length > 0 ? { operation: undefined } : await currentAt(path);
  if ('problem' in current) return nothing(current.problem);
  if (current.operation !== undefined && isSameEntry(current.operation, version)) {
    return { restoration: { done: true, changed: false }, touched: [] };
  }
  const expected = current.operation === undefined ? 'absent' : current.fingerprint;
  if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
    return nothing(`There is a directory at ${path} now: rename or remove it first.`);
  }
  const action = actionOf(context, { path, version, source }, expected);
  const requests: ActionRequest[] = [
    ...parents.map((action) => ({ action })),
    { action, keep: current.operation?.content },
  ];
  const results = await applyActions(context, requests);
  const touched = requests.map(({ action }) => ('path' in action ? action.path : action.to));
  const failed = results.find(({ result }) => result !== 'done');
  if (failed === undefined) return { restoration: { done: true, changed: true }, touched };
  const reason =
    failed.result === 'problem'
      ? failed.detail
      : `${path}, or the copy of the old version, changed in this moment, and was left as it is: try again.`;
  return { restoration: refused(reason), touched };
}

function isSameEntry(current: Operation, version: Operation): boolean {
  return isSameContent(current, version) && current.mode === version.mode;
}

function actionOf({ clock }: Context, { path, version, source }: Put, expected: Fingerprint | 'absent'): Action {
  const { content, blocks, size = 0, mode, target } = version;
  // The time is now, as after an edit: programs that compare times notice the file, and no user takes it for a write that was lost.
  const mtimeUs = clock.wallMs() * 1_000;
  if (target !== undefined) return { do: 'symlink', path, expected, target, mtimeUs };
  if (content === undefined || source === undefined) {
    return { do: 'mkdir', path, expected, mode: mode ?? directoryMode };
  }
  return { do: 'write', path, expected, content, blocks, size, mode: mode ?? 0o644, mtimeUs, source };
}

function refused(reason: string): Restoration {
  return { done: false, reason };
}
