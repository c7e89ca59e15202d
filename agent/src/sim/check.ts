import type { ContentId, Operation } from '@lockstep/shared';
import { entryType, parentOf } from '@lockstep/shared';
import type { Inode } from './disk.ts';
import { valuesOn } from './durability-watch.ts';
import type { Ledger } from './ledger.ts';
import { valueAt } from './ledger.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

const headsAtOnce = 10_000;

/** What is wrong, or undefined. */
type Finding = string | undefined;

/**
 * Contents that some live operation speaks of and that no machine has any more: the machine was destroyed, or what its users did to
 * them is not known any more, since it went with a lost journal.
 */
function lostContents(world: World): ReadonlySet<ContentId> {
  const lost = new Set<ContentId>();
  const { standing } = world;
  if (!world.mayLackContent) return lost;
  const held = standing.map((machine) => valuesOn(machine));
  for (const { journal } of standing) {
    const heads = [
      ...journal.headsUnder('', undefined, headsAtOnce),
      ...journal.contested(undefined, headsAtOnce).flatMap((path) => path.heads),
    ];
    for (const { content, size } of heads) {
      if (content !== undefined && size !== 0 && !held.some((values) => values.has(content))) lost.add(content);
    }
  }
  return lost;
}

/** Paths that cannot be brought level because a content they need is lost. */
function lostPaths(world: World): ReadonlySet<string> {
  const lost = lostContents(world);
  const paths = new Set<string>();
  if (lost.size === 0) return paths;
  for (const { journal } of world.standing) {
    for (const { path, content } of journal.headsUnder('', undefined, headsAtOnce)) {
      if (content !== undefined && lost.has(content)) paths.add(path);
    }
    for (const { path, heads } of journal.contested(undefined, headsAtOnce)) {
      if (heads.some(({ content }) => content !== undefined && lost.has(content))) paths.add(path);
    }
  }
  return paths;
}

/** Directories that cannot become anything else here: a pipe lies in them, which is this machine's own business. */
function obstructedPaths(machine: Machine): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [path, { type }] of machine.volume.disk.entries()) {
    if (type !== 'special') continue;
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) paths.add(parent);
  }
  return paths;
}

/** Converge: every member knows the same, and shows it. Says what is not level yet. */
export function checkConverged(world: World): Finding {
  const { standing } = world;
  const [first] = standing;
  if (first === undefined) return undefined;
  for (const machine of standing) {
    if (!machine.isRunning) return `${machine.name} does not run`;
    if (machine.engine?.state !== 'active') return `${machine.name} is ${machine.engine?.state}`;
  }
  for (const machine of standing) {
    const lonely = standing.find(({ id }) => id !== machine.id && machine.engine?.peers.get(id)?.ready !== true);
    if (lonely !== undefined) return `${machine.name} has no session with ${lonely.name}`;
  }
  const known = knowledgeOf(first);
  for (const machine of standing) {
    if (machine.journal.digest() !== first.journal.digest())
      return `${machine.name} and ${first.name} have different digests`;
    if (knowledgeOf(machine) !== known) return `${machine.name} and ${first.name} know different operations`;
  }
  const lost = lostPaths(world);
  for (const machine of standing) {
    const { pending, contested } = machine.journal.counts();
    if (pending > lost.size + obstructedPaths(machine).size)
      return `${machine.name} has ${pending} pending paths: ${pendingOf(machine, world)}`;
    if (contested > lost.size) return `${machine.name} has contested paths: ${contestedOf(machine, world)}`;
  }
  for (const machine of standing) {
    const difference = compareWithHeads(machine, new Set([...lost, ...obstructedPaths(machine)]), world.ledger);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Keep: everything that is owed is in the folder of every member. */
export function checkKept(world: World): Finding {
  const owed = world.ledger.owed();
  for (const machine of world.standing) {
    const there = new Set([...machine.volume.disk.entries()].map(([, inode]) => valueAt(inode)));
    for (const path of obstructedPaths(machine)) {
      const [head] = machine.journal.heads(path);
      there.add(head?.target === undefined ? head?.content : `link:${head.target}`);
    }
    for (const { key, name, path, writer } of owed) {
      if (!there.has(key))
        return `${name}, which ${writer} wrote at ${path}, is nowhere in the folder of ${machine.name}`;
    }
  }
  return undefined;
}

/** Atomic: at the end every file of every folder is a whole value that somebody wrote. */
export function checkWhole(world: World): Finding {
  for (const machine of world.standing) {
    for (const [path, { content }] of machine.volume.disk.entries()) {
      if (content !== undefined && !world.ledger.isWritten(content))
        return `${path} of ${machine.name} is what nobody wrote`;
    }
  }
  return undefined;
}

/** Replay: the log alone gives the same heads. */
export function checkReplay(world: World): Finding {
  for (const machine of world.standing) {
    const { differing } = machine.journal.verifyHeads(false);
    if (differing.length > 0)
      return `the journal of ${machine.name} replays to other heads at ${differing.slice(0, 3).join(', ')}`;
  }
  return undefined;
}

function knowledgeOf({ journal }: Machine): string {
  return JSON.stringify(Object.entries(journal.known()).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pendingOf({ journal }: Machine, world: World): string {
  const rows = (['live', 'delete'] as const).flatMap((which) => journal.pending({ which, limit: 3 }));
  return rows.map(({ path, heads }) => `${path} (${heads.map((head) => about(head, world)).join('; ')})`).join(', ');
}

function contestedOf({ journal }: Machine, world: World): string {
  const rows = journal.contested(undefined, 3);
  return rows.map(({ path, heads }) => `${path} (${heads.map((head) => about(head, world)).join('; ')})`).join(', ');
}

function about({ kind, origin, seq, content }: Operation, world: World): string {
  const dot = `${kind} ${origin.slice(0, 4)}:${seq}`;
  if (content === undefined) return dot;
  const holders = world.standing.filter((machine) => valuesOn(machine).has(content)).map(({ name }) => name);
  return `${dot} ${world.ledger.nameOf(content)}, held by ${holders.join(' and ') || 'nobody'}`;
}

/** Compares a folder with what its journal says is visible, entry by entry. */
function compareWithHeads(machine: Machine, exempt: ReadonlySet<string>, ledger: Ledger): Finding {
  const heads = new Map(machine.journal.headsUnder('', undefined, headsAtOnce).map((head) => [head.path, head]));
  for (const [path, inode] of machine.volume.disk.entries()) {
    if (inode.type === 'special' || exempt.has(path)) continue;
    const head = heads.get(path);
    if (head === undefined)
      return `${machine.name} has ${path} (${ledger.nameOf(valueAt(inode))}), which its journal does not know`;
    const difference = compareEntry(inode, head);
    if (difference !== undefined)
      return `${path} of ${machine.name} ${difference} (${ledger.nameOf(valueAt(inode))}, journal: ${ledger.nameOf(head.content)})`;
    heads.delete(path);
  }
  for (const [path, head] of heads) {
    if (entryType(head) === 'member' || entryType(head) === 'absent' || exempt.has(path)) continue;
    return `${machine.name} has no ${path}, which its journal says is a ${entryType(head)}`;
  }
  return undefined;
}

function compareEntry(inode: Inode, head: Operation): Finding {
  if (inode.type !== entryType(head)) return `is a ${inode.type}, and should be a ${entryType(head)}`;
  if (inode.type === 'symlink')
    return inode.target === head.target ? undefined : 'points elsewhere than its journal says';
  if (inode.mode !== head.mode) return `has mode ${inode.mode.toString(8)}, not ${head.mode?.toString(8)}`;
  if (inode.type !== 'file') return undefined;
  if (inode.content?.id !== head.content) return 'has another content than its journal says';
  return inode.mtimeMs * 1_000 === head.mtimeUs
    ? undefined
    : `is of ${inode.mtimeMs * 1_000} µs, not of ${head.mtimeUs} µs`;
}
