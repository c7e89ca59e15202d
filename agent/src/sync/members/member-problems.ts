import type { Problems } from '../state/problems.ts';
import type { Peers } from './peers.ts';

/**
 * Withdraws what was said of members that are not there to be compared with: a clock that nobody hears of any more, and a
 * disagreement with one that left. Names may have changed too.
 */
export function withdrawOfAbsent(problems: Problems, peers: Peers): void {
  if (problems.count === 0) return;
  const names = (states: readonly string[]): ReadonlySet<string> =>
    new Set(peers.all().flatMap(({ id, state }) => (states.includes(state) ? [] : peers.nameOf(id))));
  const present = names(['down', 'left']);
  const members = names(['left']);
  for (const { code, member } of problems.list()) {
    if (member === undefined) continue;
    const isOver =
      (code === 'clock-skew' && !present.has(member)) || (code === 'digest-mismatch' && !members.has(member));
    if (isOver) problems.clear(code, { member });
  }
}
