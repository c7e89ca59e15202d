import { Habit } from '../base/habit.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Machine } from './machine.ts';

const pauseMsMax = 400;
const remoteMax = 1_000;

/** A person who reads files of a member that fetches contents on demand. */
export function reader(machine: Machine, around: { readonly scheduler: Scheduler; readonly random: Random }): Habit {
  return new Habit(around, pauseMsMax, () => readOne(machine, around.random));
}

function readOne({ engine, isRunning, journal }: Machine, random: Random): void {
  if (engine === undefined || !isRunning) return;
  const rows = journal.disk.remoteBelow('', undefined, remoteMax);
  if (rows.length === 0) return;
  // Of a crashed agent the promise never settles, or is rejected by its own gate.
  engine.onDemand.fetch(random.pick(rows).path).catch(() => undefined);
}
