import type { PeerMessageType } from './message.ts';

/**
 * The order in which the messages of a session are sent. Messages of one lane keep their order, and those of an earlier lane go before
 * those that wait in a later one. So a message is overtaken only by one of an earlier lane.
 */
export type Lane = 'signals' | BulkLane;

/** The lanes of which a link holds messages back until the connection takes them. */
export type BulkLane = 'operations' | 'blocks';

/** Signals are small and report the current state. The liveness of a member must not depend on how much is being sent. */
const lanes: Readonly<Record<PeerMessageType, Lane>> = {
  hello: 'signals',
  subscribe: 'signals',
  received: 'signals',
  pull: 'signals',
  want: 'signals',
  missing: 'signals',
  withdraw: 'signals',
  have: 'signals',
  ack: 'signals',
  heartbeat: 'signals',
  pulse: 'signals',
  report: 'signals',
  // Sent before any operation that was made after the seal was known.
  sealed: 'signals',
  fork: 'signals',
  operations: 'operations',
  // Of a large cache it has megabytes.
  holdings: 'operations',
  // They change the holdings that were sent before.
  flipped: 'operations',
  retell: 'signals',
  // It ends the operations of a pull.
  pulled: 'operations',
  // Operations made before a member leaves are sent first.
  leave: 'operations',
  block: 'blocks',
};

/** The lane of messages of this type. */
export function laneOf(type: PeerMessageType): Lane {
  return lanes[type];
}
