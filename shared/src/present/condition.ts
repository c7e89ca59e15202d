import type { MemberCondition } from '../member-condition.ts';

const words: Readonly<Record<MemberCondition, string>> = {
  left: 'left',
  paused: 'paused',
  'shut-down': 'shut down',
  unknown: 'not known yet',
  'cut-off': 'cut off',
  away: 'away',
  down: 'down',
  silent: 'silent',
  joining: 'joining',
  syncing: 'catching up',
  active: 'active',
};

/** A member's condition in one to three words. */
export function conditionWords(condition: MemberCondition): string {
  return words[condition];
}

/** A member's condition as the end of a sentence about it: `is paused`, `has not answered yet`. */
export function conditionPhrase(condition: MemberCondition): string {
  if (condition === 'left') return 'has left';
  if (condition === 'unknown') return 'has not answered yet';
  if (condition === 'cut-off') return 'is cut off from here';
  return `is ${words[condition]}`;
}

/** True if nothing arrives from the member, so that it lacks what is written meanwhile. */
export function isAway(condition: MemberCondition): boolean {
  return ['paused', 'shut-down', 'unknown', 'away', 'down', 'silent'].includes(condition);
}

/** True for a member that announced that it goes, or may be away: a person wanted it, and sessions that others still report with it are old. */
export function isOffOnPurpose(condition: MemberCondition): boolean {
  return condition === 'paused' || condition === 'shut-down' || condition === 'away';
}
