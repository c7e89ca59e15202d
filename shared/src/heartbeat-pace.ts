/** Up to these numbers of members, each one hears from each other one every second, or every two. */
const smallMembersMax = 8;
const middleMembersMax = 16;

/** A member is suspect when it was not heard for so long beyond the time of its next pulse. */
const lateMs = 2_000;

/**
 * The time between pulses from one member to another without news, in milliseconds, in a cluster of so many members that did not leave. All
 * pulses together grow with the square of that number, and what each member spends for them grows with the number. News is sent within a
 * second all the same.
 */
export function pulseIntervalMs(members: number): number {
  if (members <= smallMembersMax) return 1_000;
  return members <= middleMembersMax ? 2_000 : 4_000;
}

/** Of so many messages without news one is a heartbeat, and the others are pulses. */
const pulsesPerReport = 5;

/**
 * The longest time between two heartbeats from one member to another, in milliseconds, in a cluster of so many members. In between, pulses
 * replace those that would repeat the last one: they cost a third, in every member for every other one. Values that change all the time, such
 * as load and free space, are at most this old.
 */
export function reportIntervalMs(members: number): number {
  return pulsesPerReport * pulseIntervalMs(members);
}

/** The silence after which a member is suspect, in milliseconds. */
export function suspectAfterMs(members: number): number {
  return pulseIntervalMs(members) + lateMs;
}
