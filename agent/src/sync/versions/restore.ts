import { entryType, type Operation, parentOf } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { isSameContent } from '../../core/merge.ts';
import { noBytes } from '../../core/plan/action.ts';
import { type CurrentAt, type CurrentVersion, withCurrent } from '../integrity/current-version.ts';
import { directoryMode, missingParents, placingRefusal } from '../integrity/placing.ts';
import type { Action, ActionRequest, ActionResult, ContentSource } from '../ports/folder.ts';
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

/** Files of one directory that are put back together, and their bytes: they bound for how long the folder is locked. */
const groupMax = 64;
const groupBytesMax = 16 * 1024 * 1024;

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
  const [restoration = refused(`${path} was not put back.`)] = await restoreAll(parts, [{ path, version }]);
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
  let group: Target[] = [];
  const restoreGroup = async (): Promise<void> => {
    const restorations = await restoreAll(parts, group);
    for (const [index, restoration] of restorations.entries()) {
      if (restoration.done) {
        entries += 1;
        continue;
      }
      refusedCount += 1;
      const path = group[index]?.path ?? '';
      if (refusals.length < refusalsListedMax) refusals.push({ path, reason: restoration.reason });
    }
    group = [];
  };
  await settled(parts, directory);
  for await (const version of versions) {
    if (entries + group.length === max || !isOfGroup(group, version)) await restoreGroup();
    if (entries === max) {
      more = true;
      break;
    }
    group.push({ path: version.path, version });
  }
  await restoreGroup();
  await settled(parts, directory);
  return { entries, refused: refusals, refusedCount, more };
}

/** A version and its place. */
interface Target {
  readonly path: string;
  readonly version: Operation;
}

/** True if the version may be put back together with these. A directory must be there before what is in it. */
function isOfGroup(group: readonly Target[], version: Operation): boolean {
  const [first] = group;
  if (first === undefined) return true;
  const isDirectory = [first.version, version].some((each) => entryType(each) === 'directory');
  if (isDirectory || group.length === groupMax || parentOf(first.path) !== parentOf(version.path)) return false;
  const bytes = group.reduce((sum, { version: { size = 0 } }) => sum + size, version.size ?? 0);
  return bytes <= groupBytesMax;
}

/** Puts versions back that are in one directory. On a disk with little room, history keeps their contents for that long. */
function restoreAll(parts: RestoreParts, targets: readonly Target[]): Promise<readonly Restoration[]> {
  const contents = targets.flatMap(({ version: { content } }) => content ?? []);
  return parts.oldVersions.hold(contents, () => restoreHeld(parts, targets));
}

async function restoreHeld(parts: RestoreParts, targets: readonly Target[]): Promise<readonly Restoration[]> {
  const { context } = parts;
  const prepared: (Restoration | Put)[] = [];
  for (const target of targets) prepared.push(await prepare(parts, target));
  const puts = prepared.filter((each) => 'path' in each);
  const { restorations, touched } = await withCurrent(
    context,
    puts.map(({ path }) => path),
    (currentAt) => putAll(context, puts, currentAt),
  );
  for (const each of touched) parts.localChanges.mark(each);
  const left = restorations.values();
  return prepared.map((each) =>
    'path' in each ? (left.next().value ?? refused(`${each.path} was not put back.`)) : each,
  );
}

/** Finds or fetches the content of a version; a refusal if it cannot be put back. */
async function prepare(parts: RestoreParts, { path, version }: Target): Promise<Restoration | Put> {
  const isDirectory = entryType(version) === 'directory';
  const refusal = await placingRefusal(parts.context, { path, isDirectory, size: version.size ?? 0 });
  if (refusal !== undefined) return refused(refusal.reason);
  const source = await sourceOf(parts, version);
  return typeof source === 'string' ? refused(source) : { path, version, source };
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
  one: Put,
  currentAt: CurrentAt,
): Promise<{ readonly restoration: Restoration; readonly touched: readonly string[] }> {
  const { restorations, touched } = await putAll(context, [one], currentAt);
  const [restoration = refused(`${one.path} was not put back.`)] = restorations;
  return { restoration, touched };
}

/** As `put`, for versions that are in one directory: they share the syncs of the disk. */
async function putAll(
  context: Context,
  puts: readonly Put[],
  currentAt: CurrentAt,
): Promise<{ readonly restorations: readonly Restoration[]; readonly touched: readonly string[] }> {
  const [first] = puts;
  const parents = first === undefined ? [] : await missingParents(context, first.path);
  if (typeof parents === 'string') return { restorations: puts.map(() => refused(parents)), touched: [] };
  const planned: (Restoration | ActionRequest)[] = [];
  for (const one of puts) planned.push(await plan(context, one, parents.length > 0 ? undefined : currentAt));
  const own = planned.filter((each) => 'action' in each);
  if (own.length === 0) return { restorations: planned.filter((each) => 'done' in each), touched: [] };
  const requests = [...parents.map((action) => ({ action })), ...own];
  const results = await applyActions(context, requests);
  const touched = requests.map(({ action }) => ('path' in action ? action.path : action.to));
  const failedParent = results.slice(0, parents.length).find(({ result }) => result !== 'done');
  const left = results.slice(parents.length).values();
  const restorations = planned.map((each, index): Restoration => {
    if ('done' in each) return each;
    const result = failedParent ?? left.next().value;
    return result?.result === 'done'
      ? { done: true, changed: true }
      : refused(reasonOf(puts[index]?.path ?? '', result));
  });
  return { restorations, touched };
}

/** The action that makes the entry of a version, or why none is needed or possible. `currentAt`: none if the directory is missing. */
async function plan(
  context: Context,
  { path, version, source }: Put,
  currentAt: CurrentAt | undefined,
): Promise<Restoration | ActionRequest> {
  // Below a directory that is missing nothing is there, and nothing may be observed.
  const current: CurrentVersion = currentAt === undefined ? { operation: undefined } : await currentAt(path);
  if ('problem' in current) return refused(current.problem);
  if (current.operation !== undefined && isSameEntry(current.operation, version)) return { done: true, changed: false };
  const expected = current.operation === undefined ? 'absent' : current.fingerprint;
  if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
    return refused(`There is a directory at ${path} now: rename or remove it first.`);
  }
  return { action: actionOf(context, { path, version, source }, expected), keep: current.operation?.content };
}

function reasonOf(path: string, result: ActionResult | undefined): string {
  return result?.result === 'problem'
    ? result.detail
    : `${path}, or the copy of the old version, changed in this moment, and was left as it is: try again.`;
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
