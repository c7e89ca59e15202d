/**
 * A sentence about the other members that have confirmed a change of the membership within the seconds that a command waits. One that is
 * slow, or is not reached, confirms it later: `later` says when.
 */
export function informedMembers(names: readonly string[], later = 'each does when it is reached'): string {
  if (names.length === 0) return `No other member has confirmed it yet: ${later}.`;
  return `Members that know it: ${names.join(', ')}.`;
}
