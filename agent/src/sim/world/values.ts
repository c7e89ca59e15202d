import { type Dot, dotKey, isLive, type Operation } from '@lockstep/shared';
import type { DiskEntry } from '../../core/entry.ts';
import { covers } from '../../core/version.ts';
import { rotten } from '../disk/content.ts';
import { fingerprintOf, type Inode, sameFingerprint } from '../disk/inode.ts';
import { type ValueKey, valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';

/** More than a run creates. */
const headsMax = 100_000;

/** The values on a machine: in the folder, in history and, for links, in the journal. */
export function valuesOn(machine: Machine): ReadonlySet<ValueKey> {
  return valuesWhere(machine, () => true);
}

/** Those that would survive a power cut. */
export function durableValuesOn(machine: Machine): ReadonlySet<ValueKey> {
  const { cache } = machine.volume.disk;
  return cache.asOnDisk(() => valuesWhere(machine, (inode) => inode.type !== 'file' || !cache.isDirty(inode)));
}

/**
 * True for a machine whose file at the path should have the value and has a flipped bit since, which its agent has not found. Such a member
 * says that it has the content: it compares size and times of the file, as GUARANTEES says.
 */
export function isRottenUnseen({ volume: { disk }, journal }: Machine, path: string, value: ValueKey): boolean {
  const inode = disk.at(path);
  const row = journal.disk.at(path);
  if (inode?.content === undefined || row?.fingerprint === undefined) return false;
  if (row.content !== value || row.damaged || rotten(inode.content).id !== value) return false;
  return sameFingerprint(row.fingerprint, fingerprintOf(inode)) && !disk.cache.isDirty(inode);
}

function valuesWhere(machine: Machine, isWanted: (inode: Inode) => boolean): ReadonlySet<ValueKey> {
  const values = new Set<ValueKey>();
  for (const inode of [...machine.volume.inodes(), ...machine.volume.history.values()]) {
    const value = valueAt(inode);
    if (value !== undefined && isWanted(inode)) values.add(value);
  }
  for (const { target } of headsOf(machine)) if (target !== undefined) values.add(`link:${target}`);
  return values;
}

/** All live heads of a machine's journal, including losing ones. */
function headsOf({ journal }: Machine): readonly Operation[] {
  const contested = journal.heads.contested(undefined, headsMax).flatMap(({ heads }) => heads);
  return [...journal.heads.under('', undefined, headsMax), ...contested].filter(isLive);
}

/**
 * The values that these machines still have together: those in a folder, and those of live operations whose content one of them has. Values
 * only in history were released, and so were those of operations that are `isOver`, and of entries that are `isBack` after their release.
 */
export function valuesAmong(
  machines: readonly Machine[],
  isOver: (path: string, dot: Dot) => boolean = () => false,
  isBack: (path: string, inode: Inode) => boolean = () => false,
): ReadonlySet<ValueKey> {
  const held = new Set(machines.flatMap((machine) => [...valuesOn(machine)]));
  const values = new Set<ValueKey>();
  for (const machine of machines) {
    for (const [path, inode] of machine.volume.disk.entries()) {
      const value = valueAt(inode);
      const row = machine.journal.disk.at(path);
      const isRow = row !== undefined && valueOfRow(machine, row) === value;
      if (value !== undefined && !(isRow && isOver(path, row.dot)) && !isBack(path, inode)) values.add(value);
    }
    for (const head of headsOf(machine)) {
      const { path, content, target } = head;
      if (isOver(path, head)) continue;
      if (target !== undefined) values.add(`link:${target}`);
      if (content !== undefined && held.has(content)) values.add(content);
    }
  }
  return values;
}

/**
 * True for an operation that another one at its path has replaced on one of these machines: the others learn that. That machine may know it
 * only by the version of the other.
 */
export function isOverAmong(machines: readonly Machine[]): (path: string, operation: Dot) => boolean {
  return (path, operation) =>
    machines.some(({ journal }) => {
      const heads = journal.heads.at(path);
      if (heads.some((head) => dotKey(head) === dotKey(operation))) return false;
      return journal.log.operation(operation) !== undefined || heads.some(({ version }) => covers(version, operation));
    });
}

/** The value that the entry of a row had when it was recorded. */
export function valueOfRow({ journal }: Machine, { content, dot }: DiskEntry): ValueKey | undefined {
  if (content !== undefined) return content;
  const target = journal.log.operation(dot)?.target;
  return target === undefined ? undefined : `link:${target}`;
}
