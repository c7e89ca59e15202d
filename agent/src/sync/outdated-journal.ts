import type { Context } from './context.ts';
import type { Peer, Peers } from './peers.ts';

/**
 * A journal restored from a backup numbers operations that others have seen already. They are pulled like any others; what
 * this member makes from now on gets numbers of a new incarnation. True when `peer` knew better: all sessions begin anew then.
 */
export function renewIfOutdated({ journal, log }: Context, peers: Peers, peer: Peer): boolean {
  const { origin } = journal;
  if ((peer.known[origin] ?? 0) <= (journal.known()[origin] ?? 0)) return false;
  journal.renewOrigin();
  log.warn({ origin, now: journal.origin, peer: peer.id }, 'the journal is older than what others know of it');
  for (const other of peers.all()) other.link?.close('this member begins a new incarnation');
  return true;
}
