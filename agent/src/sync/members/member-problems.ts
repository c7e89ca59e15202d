import type { Problems } from '../state/problems.ts';
import type { Peers } from './peers.ts';

/**
 * Withdraws problems of members that can no longer be compared: clock skew of a member that is down or left, and a digest mismatch
 * with one that left. Also withdraws those under a former name.
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
