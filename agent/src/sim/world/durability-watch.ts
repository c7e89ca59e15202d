import { type Dot, isLive, type Operation } from '@lockstep/shared';
import type { Inode } from '../disk/inode.ts';
import { type ValueKey, valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

const waitTimeoutMs = 4_000;
/** More than a run makes. */
const headsMax = 100_000;

/** What a machine holds: in the folder, in the history and, as a link is all in its operation, in the journal. */
export function valuesOn(machine: Machine): ReadonlySet<ValueKey> {
  return valuesWhere(machine, () => true);
}

/** What of that would be there after a power cut. */
function durableValuesOn(machine: Machine): ReadonlySet<ValueKey> {
  const { cache } = machine.volume.disk;
  return cache.asOnDisk(() => valuesWhere(machine, (inode) => inode.type !== 'file' || !cache.isDirty(inode)));
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

/** All live heads of a machine's journal, losing ones too. */
function headsOf({ journal }: Machine): readonly Operation[] {
  const contested = journal.contested(undefined, headsMax).flatMap(({ heads }) => heads);
  return [...journal.headsUnder('', undefined, headsMax), ...contested].filter(isLive);
}

/**
 * What is still to be had of these machines together: what stands in a folder, and what one of them holds and a live operation speaks
 * of. What lies in history alone was let go of, and what an operation put there that `isOver`.
 */
export function valuesAmong(
  machines: readonly Machine[],
  isOver: (path: string, dot: Dot) => boolean = () => false,
): ReadonlySet<ValueKey> {
  const held = new Set(machines.flatMap((machine) => [...valuesOn(machine)]));
  const values = new Set<ValueKey>();
  for (const machine of machines) {
    for (const [path, inode] of machine.volume.disk.entries()) {
      const value = valueAt(inode);
      const row = machine.journal.disk(path);
      if (value !== undefined && !(row?.content === value && isOver(path, row.dot))) values.add(value);
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
 * Asks a member to wait for a majority, and when it says that this is reached, counts where the values really are that were on its
 * disk when it was asked. `reached` is called then with the number of members that it counts.
 */
export function durabilityWatch(world: World, machine: Machine, reached: (members: number) => void): void {
  const { engine } = machine;
  if (engine === undefined) return;
  const { story, ledger } = world;
  const asked = [...machine.volume.disk.entries()].flatMap(([path, inode]) => {
    const value = valueAt(inode);
    return value === undefined ? [] : [{ path, value, since: ledger.untouchedSince(value) }];
  });
  const { timesHidden } = machine.volume;
  story.tell(machine.name, () => 'is asked to wait for a majority');
  engine.wait({ for: 'majority', timeoutMs: waitTimeoutMs }).then(
    (outcome) => {
      if (machine.engine !== engine || machine.isDestroyed) return;
      story.tell(
        machine.name,
        () => `answers the wait: ${outcome.done ? 'durable' : 'not yet'} (${outcome.holding} of ${outcome.members})`,
      );
      // What was hidden before the agent could see it is none of what it looked at.
      if (!outcome.done || machine.volume.timesHidden !== timesHidden) return;
      // A machine that was destroyed or set back since it acknowledged did hold what it said.
      const held = world.machines.map((other) => new Set([...durableValuesOn(other), ...other.onceHeld]));
      for (const { path, value, since } of asked) {
        // What any user has let go of is another thing, even where it was brought back, and so is what was moved since.
        if (since === undefined || ledger.untouchedSince(value) !== since) continue;
        const holders = held.filter((values) => values.has(value)).length;
        if (holders >= outcome.wanted) continue;
        const name = ledger.nameOf(value);
        world.violate(
          'Durable',
          `${machine.name} said a majority holds ${path} = ${name}; ${holders} of ${outcome.members} do`,
        );
      }
      reached(outcome.members);
    },
    (error: unknown) => {
      if (machine.engine === engine) world.failed(machine, `wait failed: ${String(error)}`);
    },
  );
}
