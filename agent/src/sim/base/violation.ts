/**
 * The rules of DESIGN 9 that a run checks; `Gone`: what its only user deleted stays away; `Confined`: no agent goes through a link; and `Sound`:
 * no agent meets what it did not foresee.
 */
export type Rule = 'Converge' | 'Keep' | 'Gone' | 'Atomic' | 'Replay' | 'Durable' | 'Quiet' | 'Confined' | 'Sound';

/** A rule that did not hold in a run. */
export interface Violation {
  readonly rule: Rule;
  readonly reason: string;
}
