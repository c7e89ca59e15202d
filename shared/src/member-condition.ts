/**
 * The condition of a member as the asked member sees it, for people: the first of these that applies.
 * - `left`, by the member list; `unknown`, while the asked member is paused;
 * - `paused` or `shut-down`: it announced that;
 * - `away`: it was shut down, or not heard for 10 s and heard by no other member, and a person said that it may be away;
 * - `cut-off`: it has no session with the asked member, and another member passes on what it says;
 * - `down`: not heard for 10 s; `unknown`: not heard yet since the asked member began to listen;
 * - `silent`: not heard for some seconds (`suspectAfterMs`), or its session ended a moment ago;
 * - otherwise what it says of itself.
 */
export const memberConditions = [
  'left',
  'paused',
  'shut-down',
  'unknown',
  'cut-off',
  'away',
  'down',
  'silent',
  'joining',
  'syncing',
  'active',
] as const;

export type MemberCondition = (typeof memberConditions)[number];
