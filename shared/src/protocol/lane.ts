import type { PeerMessageType } from './message.ts';

/**
 * In what order the messages of a session leave: those of one lane as they were given, and those of an earlier lane before those that
 * wait in a later one. So no message is overtaken but by one of an earlier lane.
 */
export type Lane = 'signals' | 'operations' | 'blocks';

/** Signals are small and say how things stand now; whether a member is alive must not depend on how much is being sent. */
const lanes: Readonly<Record<PeerMessageType, Lane>> = {
  hello: 'signals',
  subscribe: 'signals',
  received: 'signals',
  pull: 'signals',
  want: 'signals',
  missing: 'signals',
  ack: 'signals',
  heartbeat: 'signals',
  'heartbeat-reply': 'signals',
  // Before any operation that was made knowing of it.
  sealed: 'signals',
  fork: 'signals',
  operations: 'operations',
  // It ends the operations of a pull.
  pulled: 'operations',
  // What was made before somebody went is still told.
  leave: 'operations',
  block: 'blocks',
};

/** The lane of messages of this type. */
export function laneOf(type: PeerMessageType): Lane {
  return lanes[type];
}
