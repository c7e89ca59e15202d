import type { ContentId, Operation } from '@lockstep/shared';
import { carriedTimeUs, entryType, isBelow, parentOf } from '@lockstep/shared';
import { holdsAll } from '../../core/durability.ts';
import { isSameTime } from '../../core/entry.ts';
import type { Inode } from '../disk/inode.ts';
import type { Ledger } from '../users/ledger.ts';
import { linkTarget, type Value, type ValueKey, valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';
import { valuesOn } from './values.ts';
import type { World } from './world.ts';

export const headsAtOnce = 10_000;
/** More than a run creates. */
const logRowsMax = 100_000;

/** The violation of a rule. Undefined if there is none. */
export type Problem = string | undefined;

/**
 * Contents of live operations that no machine has any more. Their machine was destroyed, or the deletes of their users were lost with a
 * journal. Or they are hidden under a mount that waits for a user, or were deleted or overwritten where alone they were.
 */
function lostContents(world: World): ReadonlySet<ContentId> {
  const lost = new Set<ContentId>();
  const { remaining } = world;
  const areHidden = remaining.some(({ volume }) => volume.changedMounts().length > 0);
  const mayLackAny = world.mayLackContent || areHidden;
  // A user deletes a file on the only machine that has it, while another user renames it on a member that fetches on demand. Or a user
  // overwrites one that is not durable while the clock is set back, so that it seems to be older, as GUARANTEES says.
  const mayLack = (content: ContentId): boolean => mayLackAny || !world.ledger.isOwed(content);
  if (!mayLackAny && !remaining.some(({ isOnDemand, wall }) => isOnDemand || wall.wasSetBothWays)) return lost;
  const held = remaining.map(servedBy);
  for (const { journal } of remaining) {
    const heads = [
      ...journal.heads.under('', undefined, headsAtOnce),
      ...journal.heads.contested(undefined, headsAtOnce).flatMap((path) => path.heads),
    ];
    for (const { content, size } of heads) {
      if (content === undefined || size === 0 || !mayLack(content)) continue;
      if (!held.some((values) => values.has(content))) lost.add(content);
    }
  }
  return lost;
}

/** The contents that a machine can serve: those in history and those of files that are whole, and that no mount hides. */
function servedBy(machine: Machine): ReadonlySet<ValueKey> {
  const isHidden = isHiddenIn(machine);
  const { disk, history } = machine.volume;
  const isServed = (path: string): boolean => !isHidden(path) && machine.journal.disk.at(path)?.damaged !== true;
  const inodes = [...disk.entries()].flatMap(([path, inode]) => (isServed(path) ? [inode] : []));
  return new Set([...inodes, ...history.values()].flatMap((inode) => valueAt(inode) ?? []));
}

/** Paths that cannot converge because a content that they need is lost. */
export function lostPaths(world: World): ReadonlySet<string> {
  const lost = lostContents(world);
  const paths = new Set<string>();
  if (lost.size === 0) return paths;
  for (const { journal } of world.remaining) {
    for (const { path, content } of journal.heads.under('', undefined, headsAtOnce)) {
      if (content !== undefined && lost.has(content)) paths.add(path);
    }
    for (const { path, heads } of journal.heads.contested(undefined, headsAtOnce)) {
      if (heads.some(({ content }) => content !== undefined && lost.has(content))) paths.add(path);
    }
  }
  for (const machine of world.remaining) {
    // While a lost file is to stand there, nothing can be put below it.
    for (const path of pendingOn(machine)) if ([...paths].some((above) => isBelow(path, above))) paths.add(path);
  }
  return paths;
}

function pendingOn({ journal }: Machine): readonly string[] {
  const rows = (['live', 'delete'] as const).flatMap((which) => journal.heads.pending({ which, limit: headsAtOnce }));
  return rows.map(({ path }) => path);
}

/**
 * Directories that cannot be replaced, because they contain a pipe, which is not replicated. Also paths on another disk mounted inside the
 * folder, on which operations of others cannot be applied.
 */
function obstructedPaths(machine: Machine): ReadonlySet<string> {
  const paths = new Set<string>();
  const { disk } = machine.volume;
  const isHidden = isHiddenIn(machine);
  const isElsewhere = (path: string): boolean =>
    isHidden(path) || disk.at(parentOf(path))?.device !== disk.device || disk.isMountPoint(path);
  for (const path of pendingOn(machine)) if (isElsewhere(path)) paths.add(path);
  for (const [path, { type }] of machine.volume.disk.entries()) {
    if (type !== 'special') continue;
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) paths.add(parent);
  }
  return paths;
}

/** True for a path at or below a mount point whose mount is not the accepted one: it waits for a user. */
function isHiddenIn({ volume }: Machine): (path: string) => boolean {
  const mounts = volume.changedMounts();
  return (path) => mounts.some((mount) => mount === path || isBelow(path, mount));
}

/** Converge: all members have the same operations and show them. Returns the first difference. */
export function checkConverged(world: World): Problem {
  const { remaining } = world;
  const [first] = remaining;
  if (first === undefined) return undefined;
  for (const machine of remaining) {
    if (!machine.isRunning) return `${machine.name} is not running`;
    if (machine.engine?.lifecycle.state !== 'active') return `${machine.name} is ${machine.engine?.lifecycle.state}`;
  }
  for (const machine of remaining) {
    const lonely = remaining.find(({ id }) => id !== machine.id && machine.engine?.peers.get(id)?.ready !== true);
    if (lonely !== undefined) return `${machine.name} has no session with ${lonely.name}`;
  }
  const known = knowledgeOf(first);
  for (const machine of remaining) {
    if (machine.journal.totals.digest() !== first.journal.totals.digest())
      return `${machine.name} and ${first.name} have different digests`;
    if (knowledgeOf(machine) !== known) return `${machine.name} and ${first.name} have different operations`;
  }
  const lost = lostPaths(world);
  for (const machine of remaining) {
    const { pending } = machine.journal.totals.counts();
    const isContested = machine.journal.heads.contested(undefined, headsAtOnce).some(({ path }) => !lost.has(path));
    if (pending > lost.size + obstructedPaths(machine).size)
      return `${machine.name} has ${pending} pending paths: ${pendingOf(machine, world)}`;
    if (isContested) return `${machine.name} has contested paths: ${contestedOf(machine, world)}`;
  }
  for (const machine of remaining) {
    const exempt = new Set([...lost, ...obstructedPaths(machine)]);
    const difference = compareWithHeads(machine, exempt, world.ledger);
    if (difference !== undefined) return difference;
    const unseen = firstUnseen(machine, exempt);
    if (unseen !== undefined) return unseen;
  }
  // A path with a lost sibling is not compared: the scrub must still find a bit that flipped there.
  return checkWhole(world);
}

/** The folder may differ from the heads at exempt paths. Each member has still seen what its users last wrote there. */
function firstUnseen(machine: Machine, exempt: ReadonlySet<string>): Problem {
  const isHidden = isHiddenIn(machine);
  for (const path of exempt) {
    const content = machine.volume.disk.at(path)?.content;
    if (content === undefined || isHidden(path)) continue;
    const row = machine.journal.disk.at(path);
    // The bytes found in a damaged file were set aside, if they were read.
    const seen = row?.damaged ? (row.found ?? content.id) : row?.content;
    if (seen !== content.id) return `${machine.name} has not seen the content at ${path}`;
  }
  return undefined;
}

/** Keep: the folder of every member has all owed values. */
export function checkKept(world: World): Problem {
  const owed = world.ledger.owed();
  const lost = lostPaths(world);
  // Values on a disk that waits to be accepted are in one folder only.
  const waiting = new Set<string | undefined>();
  for (const machine of world.remaining) {
    const isHidden = isHiddenIn(machine);
    for (const [path, inode] of machine.volume.disk.entries()) if (isHidden(path)) waiting.add(valueAt(inode));
  }
  const kept = new Set(world.remaining.flatMap(({ volume }) => [...volume.history.keys()]));
  const onDisks = new Map(world.remaining.map((machine) => [machine, valuesOn(machine)]));
  const isElsewhere = (key: ValueKey, machine: Machine): boolean =>
    [...onDisks].some(([other, values]) => other !== machine && values.has(key));
  // The journal is the history of a link: it has no bytes. A link may have had another name, as a file in history may.
  const isRecorded = ({ key }: Value): boolean => {
    const target = linkTarget(key);
    if (target === undefined) return kept.has(key as ContentId);
    return world.remaining.some(({ journal }) =>
      journal.log
        .rows({ beforeRow: Number.MAX_SAFE_INTEGER, limit: logRowsMax })
        .some(({ operation }) => operation.target === target),
    );
  };
  const isInHistory = (value: Value): boolean =>
    isRecorded(value) && (world.ledger.mayBeInHistory(value.key) || world.wasReplacedUnseen(value));
  for (const machine of world.remaining) {
    const there = new Set([...machine.volume.disk.entries()].map(([, inode]) => valueAt(inode)));
    for (const path of obstructedPaths(machine)) {
      const [head] = machine.journal.heads.at(path);
      there.add(head?.target === undefined ? head?.content : `link:${head.target}`);
    }
    // Values hidden by a changed mount still exist below it.
    const isHidden = isHiddenIn(machine);
    for (const { path, content, target } of machine.journal.heads.under('', undefined, headsAtOnce)) {
      if (isHidden(path)) there.add(target === undefined ? content : `link:${target}`);
    }
    // Siblings are not joined while the content of one is lost: the other members keep their versions.
    for (const path of lost) {
      for (const { content, target } of machine.journal.heads.at(path)) {
        there.add(target === undefined ? content : `link:${target}`);
      }
    }
    // A member on demand reads it from another machine.
    for (const path of remotePaths(machine)) {
      const content = machine.journal.heads.at(path)[0]?.content;
      if (content !== undefined && isElsewhere(content, machine)) there.add(content);
    }
    for (const value of owed) {
      const { key, name, path, writer } = value;
      if (!there.has(key) && !waiting.has(key) && !isInHistory(value))
        return `${name}, which ${writer} wrote at ${path}, is missing in the folder of ${machine.name}`;
    }
  }
  return undefined;
}

function remotePaths({ journal }: Machine): readonly string[] {
  return journal.disk.remoteBelow('', undefined, headsAtOnce).map(({ path }) => path);
}

/**
 * Gone: no folder has a value that its only user deleted. A member that lost its journal or unsynced data cannot know of the delete: it
 * publishes that file again. Nor can one whose clock was set back and forward again: the directory seems to be older than the file.
 */
export function checkGone({ remaining, ledger, mayLackContent }: World): Problem {
  if (mayLackContent) return undefined;
  const confused = new Set(remaining.flatMap(({ name, wall }) => (wall.wasSetBothWays ? [name] : [])));
  for (const { name, volume } of remaining) {
    for (const [path, inode] of volume.disk.entries()) {
      const value = valueAt(inode);
      if (value === undefined || !ledger.isGone(value)) continue;
      const writer = ledger.writerOf(value);
      if (writer === undefined || !confused.has(writer))
        return `${ledger.nameOf(value)}, which its user deleted, is at ${path} of ${name}`;
    }
  }
  return undefined;
}

/** Atomic: at the end every file of every folder is a complete value that a user wrote. */
export function checkWhole(world: World): Problem {
  for (const machine of world.remaining) {
    for (const [path, { content }] of machine.volume.disk.entries()) {
      // Content damaged by a power cut stays until it can be replaced.
      if (machine.journal.disk.at(path)?.damaged) continue;
      if (content !== undefined && !world.ledger.isWritten(content))
        return `${path} of ${machine.name} is content that no user wrote`;
    }
  }
  return undefined;
}

/** Durable, after convergence and a pause: every member holds all its operations, and the others know that. */
export function checkHeld(world: World): Problem {
  const { remaining } = world;
  for (const machine of remaining) {
    const { pending, contested } = machine.journal.totals.counts();
    // Operations on paths that cannot converge are not held.
    if (pending + contested > 0) continue;
    // Content that the disk lost counts as not held until its user has written it again, and the member reports that.
    if (machine.engine?.context.problems.has('sync-failed')) continue;
    // No sync reaches files on an unmounted disk.
    if (machine.volume.changedMounts().length > 0) continue;
    const known = machine.journal.log.known();
    if (!holdsAll(machine.journal.applied(), known)) return `${machine.name} does not hold all that it knows`;
    for (const { name, engine } of remaining) {
      const peer = engine?.peers.get(machine.id);
      if (peer !== undefined && !holdsAll(peer.applied, known))
        return `${name} does not know what ${machine.name} holds`;
    }
  }
  return undefined;
}

/** Replay: the log alone gives the same heads. */
export function checkReplay(world: World): Problem {
  for (const machine of world.remaining) {
    const { differing } = machine.journal.verifyHeads(false);
    if (differing.length > 0)
      return `the journal of ${machine.name} replays to other heads at ${differing.slice(0, 3).join(', ')}`;
  }
  return undefined;
}

function knowledgeOf({ journal }: Machine): string {
  return JSON.stringify(Object.entries(journal.log.known()).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pendingOf({ journal }: Machine, world: World): string {
  const rows = (['live', 'delete'] as const).flatMap((which) => journal.heads.pending({ which, limit: 3 }));
  return rows.map(({ path, heads }) => `${path} (${heads.map((head) => about(head, world)).join('; ')})`).join(', ');
}

function contestedOf({ journal }: Machine, world: World): string {
  const rows = journal.heads.contested(undefined, 3);
  return rows.map(({ path, heads }) => `${path} (${heads.map((head) => about(head, world)).join('; ')})`).join(', ');
}

function about({ kind, origin, seq, content }: Operation, world: World): string {
  const dot = `${kind} ${origin.slice(0, 4)}:${seq}`;
  if (content === undefined) return dot;
  const holders = world.remaining.filter((machine) => valuesOn(machine).has(content)).map(({ name }) => name);
  return `${dot} ${world.ledger.nameOf(content)}, held by ${holders.join(' and ') || 'no machine'}`;
}

/** Compares a folder with the visible heads of its journal, entry by entry. */
function compareWithHeads(machine: Machine, exempt: ReadonlySet<string>, ledger: Ledger): Problem {
  const isHidden = isHiddenIn(machine);
  const heads = new Map(machine.journal.heads.under('', undefined, headsAtOnce).map((head) => [head.path, head]));
  for (const [path, inode] of machine.volume.disk.entries()) {
    if (inode.type === 'special' || exempt.has(path) || isHidden(path)) continue;
    const head = heads.get(path);
    if (head === undefined)
      return `${machine.name} has ${path} (${ledger.nameOf(valueAt(inode))}), which is missing in its journal`;
    const difference = compareEntry(inode, head);
    if (difference !== undefined)
      return `${path} of ${machine.name} ${difference} (${ledger.nameOf(valueAt(inode))}, journal: ${ledger.nameOf(head.content)})`;
    heads.delete(path);
  }
  for (const [path, head] of heads) {
    if (machine.isOnDemand && machine.journal.disk.at(path)?.remote && entryType(head) === 'file') continue;
    if (entryType(head) === 'member' || entryType(head) === 'absent' || exempt.has(path) || isHidden(path)) continue;
    return `${machine.name} has no ${path}, which in its journal is a ${entryType(head)}`;
  }
  return undefined;
}

function compareEntry(inode: Inode, head: Operation): Problem {
  if (inode.type !== entryType(head)) return `is a ${inode.type}, and should be a ${entryType(head)}`;
  if (inode.type === 'symlink')
    return inode.target === head.target ? undefined : 'has another target than in its journal';
  if (inode.mode !== head.mode) return `has mode ${inode.mode.toString(8)}, not ${head.mode?.toString(8)}`;
  if (inode.type !== 'file') return undefined;
  if (inode.content?.id !== head.content) return 'has another content than in its journal';
  return isSameTime(carriedTimeUs(inode.mtimeMs * 1_000), head.mtimeUs ?? 0)
    ? undefined
    : `has time ${inode.mtimeMs * 1_000} µs, not ${head.mtimeUs} µs`;
}
