/**
 * The rules that a run checks. `Gone`: a value deleted by its only user does not return. `Kept`: a member that fetches contents on demand
 * drops none that no other machine has. `Copies`: a content is on as many members as are wanted and can keep it. `Told`: a member on demand
 * has on its disk what it told the others. `Confined`: no agent follows a link. `Sound`: no agent meets an unforeseen state.
 */
export type Rule =
  | 'Converge'
  | 'Keep'
  | 'Gone'
  | 'Kept'
  | 'Copies'
  | 'Atomic'
  | 'Replay'
  | 'Durable'
  | 'Quiet'
  | 'Told'
  | 'Confined'
  | 'Sound';

/** A rule that a run violated. */
export interface Violation {
  readonly rule: Rule;
  readonly reason: string;
}
