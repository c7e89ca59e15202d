import { Habit } from '../base/habit.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Machine } from './machine.ts';

const pauseMsMax = 4_000;

/** A person who sets, now and then and at any member, on how many members contents are kept. */
export function copiesPerson(
  machines: () => readonly Machine[],
  around: { readonly scheduler: Scheduler; readonly random: Random },
): Habit {
  return new Habit(around, pauseMsMax, () => setCopies(around.random.pick(machines()), around.random));
}

function setCopies({ engine, isRunning, journal }: Machine, random: Random): void {
  const count = journal.members.all().filter(({ membership }) => membership === 'joined').length;
  if (engine === undefined || !isRunning || engine.lifecycle.state !== 'active' || count === 0) return;
  const pattern = random.pick(['', '', '', '*b*', 'c/']);
  const isKnown = engine.copies.placement.rules.active.some((rule) => rule.pattern === pattern);
  if (isKnown && random.chance(0.2)) engine.copies.set(pattern, null);
  else engine.copies.set(pattern, drawCopies(count, random));
}

/** As many copies as there are members are the hardest to keep. */
function drawCopies(count: number, random: Random): number | 'all' {
  if (random.chance(0.1)) return 'all';
  return random.chance(0.5) ? count : 1 + random.below(count);
}
