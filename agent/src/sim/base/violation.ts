/**
 * The rules that a run checks. `Gone`: a value deleted by its only user does not return. `Confined`: no agent follows a link. `Sound`: no
 * agent meets an unforeseen state.
 */
export type Rule = 'Converge' | 'Keep' | 'Gone' | 'Atomic' | 'Replay' | 'Durable' | 'Quiet' | 'Confined' | 'Sound';

/** A rule that a run violated. */
export interface Violation {
  readonly rule: Rule;
  readonly reason: string;
}
