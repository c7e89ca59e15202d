import { type Applied, type MemberId, memberOf, type OriginId } from '@lockstep/shared';
import { blockingOrigins } from '../../core/durability.ts';
import type { Engine } from '../../sync/engine.ts';

/** A member makes what its user wrote durable within this time. After it, a person should see that it has not. */
const durableWithinMs = 5_000;

/**
 * What a member holds or is about to: its applied vector and its own operations of the last seconds, which its disk shows. To people a
 * member is not behind with what it wrote itself. For what is durable ask its applied vector.
 */
export function shownBy({ context }: Engine, member: MemberId, applied: Applied): Applied {
  const { journal, clock } = context;
  const known = journal.known();
  const vector: Record<OriginId, number> = { ...applied.vector };
  for (const dot of blockingOrigins(applied, known)) {
    if (memberOf(dot.origin) !== member) continue;
    const logged = journal.logged(dot);
    const isRecent = logged !== undefined && clock.wallMs() - logged.journaledAt < durableWithinMs;
    if (isRecent) vector[dot.origin] = known[dot.origin] ?? dot.seq;
  }
  return { ...applied, vector };
}
