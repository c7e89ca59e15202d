import { valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';
import { durableValuesOn } from './values.ts';
import type { World } from './world.ts';

const waitTimeoutMs = 4_000;

/**
 * Asks a member to wait for a majority, or for all copies where none has the whole folder. If it reports success, counts the machines that really
 * hold the values then on its disk, and calls `reached` with the number of members.
 */
export function durabilityWatch(world: World, machine: Machine, reached: (members: number) => void): void {
  const { engine } = machine;
  if (engine === undefined) return;
  const { story, ledger, scenario } = world;
  const asked = [...machine.volume.disk.entries()].flatMap(([path, inode]) => {
    const value = valueAt(inode);
    return value === undefined ? [] : [{ path, value, since: ledger.untouchedSince(value) }];
  });
  const { timesHidden } = machine.volume;
  const goal = scenario.onDemand >= scenario.members ? 'all' : 'majority';
  story.add(machine.name, () => `waits for ${goal}`);
  engine.wait({ for: goal, timeoutMs: waitTimeoutMs }).then(
    (outcome) => {
      if (machine.engine !== engine || machine.isDestroyed) return;
      story.add(
        machine.name,
        () => `the wait ends: ${outcome.done ? 'durable' : 'not yet'} (${outcome.holding} of ${outcome.members})`,
      );
      // Values hidden before the agent saw them are not covered.
      if (!outcome.done || machine.volume.timesHidden !== timesHidden) return;
      // A machine that was destroyed or set back since did hold the values that it acknowledged.
      // Copies that are too many by another member's rules may be gone again.
      const wanted = outcome.byCopies ? 1 : outcome.wanted;
      const held = world.machines.map((other) => new Set([...durableValuesOn(other), ...other.onceHeld]));
      for (const { path, value, since } of asked) {
        // A value that was released, even if brought back, or moved since is not compared.
        if (since === undefined || ledger.untouchedSince(value) !== since) continue;
        const holders = held.filter((values) => values.has(value)).length;
        if (holders >= wanted) continue;
        const name = ledger.nameOf(value);
        world.violate(
          'Durable',
          `${machine.name} reported that enough hold ${path} = ${name}; ${holders} of ${outcome.members} do`,
        );
      }
      reached(outcome.members);
    },
    (error: unknown) => {
      if (machine.engine === engine) world.failed(machine, `wait failed: ${String(error)}`);
    },
  );
}
