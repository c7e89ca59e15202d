import type { MemberState } from '@lockstep/shared';
import type { Progress } from '@lockstep/shared/api';
import { memberProgress, type SaidProgress } from '../../core/traffic/member-progress.ts';
import type { Engine } from '../../sync/engine.ts';
import type { Peer } from '../../sync/members/peer.ts';

/** The progress of this member; undefined if its disk lacks no bytes. */
export function ownProgress(engine: Engine): Progress | undefined {
  const isLearning = engine.catchUp.progress() !== undefined || isStarting(engine.lifecycle.state);
  return progressOf(engine, engine.arrivals.report(), isLearning);
}

/** The progress of another member as it said; undefined if its disk lacks no bytes, and if it is not heard. */
export function peerProgress(engine: Engine, { said }: Peer): Progress | undefined {
  if (said === undefined) return undefined;
  return progressOf(engine, said, said.progress !== undefined || isStarting(said.state));
}

function isStarting(state: MemberState): boolean {
  return state === 'joining' || state === 'syncing';
}

function progressOf(engine: Engine, said: SaidProgress, isLearning: boolean): Progress | undefined {
  return memberProgress(said, isLearning ? knownTotals(engine) : []);
}

/** The other members that are heard, directly or by way of another one. */
export function heardPeers({ peers }: Engine): readonly Peer[] {
  return peers.all().filter(({ said, state }) => said !== undefined && state !== 'left');
}

/** Bytes of all files, as each of the members that are heard says. */
function knownTotals(engine: Engine): readonly number[] {
  const others = heardPeers(engine).map(({ said }) => said?.totalBytes ?? 0);
  return [engine.context.journal.totals.counts().bytes, ...others];
}
