import { type Applied, type MemberId, memberOf, type OriginId } from '@lockstep/shared';
import { blockingOrigins } from '../../core/durability.ts';
import type { Engine } from '../../sync/engine.ts';

/** The time within which a member makes its user's changes durable. After it, a person should see that it has not. */
const durableWithinMs = 5_000;

/**
 * The operations that a member holds or is about to hold. They are its applied vector and its own operations of the last seconds, which its
 * disk shows. For people a member is not behind with its own changes. For durability use its applied vector.
 */
export function shownBy({ context }: Engine, member: MemberId, applied: Applied): Applied {
  const { journal, clock } = context;
  const known = journal.log.known();
  const vector: Record<OriginId, number> = { ...applied.vector };
  for (const dot of blockingOrigins(applied, known)) {
    if (memberOf(dot.origin) !== member) continue;
    const logged = journal.log.row(dot);
    const isRecent = logged !== undefined && clock.wallMs() - logged.journaledAt < durableWithinMs;
    if (isRecent) vector[dot.origin] = known[dot.origin] ?? dot.seq;
  }
  return { ...applied, vector };
}
