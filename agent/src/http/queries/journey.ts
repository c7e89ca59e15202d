import { type Dot, memberOf } from '@lockstep/shared';
import type { Journey, JourneyStop } from '@lockstep/shared/api';
import { holds } from '../../core/durability.ts';
import { stampMs } from '../../core/hlc.ts';
import type { Engine } from '../../sync/engine.ts';
import type { Peer } from '../../sync/members/peer.ts';
import { conditionOf, ownCondition } from './members.ts';
import { reportLogged } from './operations.ts';
import { shownBy } from './shown-by.ts';

/** The journey of one operation to each member, as far as this one saw it; undefined if the log does not hold it. */
export function readJourney(engine: Engine, dot: Dot): Journey | undefined {
  const logged = engine.context.journal.log.row(dot);
  if (logged === undefined) return undefined;
  const { operation, journaledAt } = logged;
  const author = memberOf(operation.origin);
  const others = engine.peers
    .all()
    .filter(({ state }) => state !== 'left')
    .map((peer) => stopOf(engine, peer, dot));
  others.sort((a, b) => a.name.localeCompare(b.name));
  const all = engine.lifecycle.state === 'left' ? others : [ownStop(engine, dot, journaledAt), ...others];
  const isFile = operation.content !== undefined;
  const stops = [...all.filter(({ member }) => member === author), ...all.filter(({ member }) => member !== author)];
  return {
    operation: reportLogged(engine, logged),
    writtenAt: operation.kind === 'put' && operation.mtimeUs !== undefined ? operation.mtimeUs / 1_000 : null,
    madeAt: stampMs(operation.hlc),
    stops,
    holding: stops.filter(({ applied, onDemand }) => applied && !(isFile && onDemand)).length,
    members: stops.filter(({ onDemand }) => !(isFile && onDemand)).length,
  };
}

function ownStop(engine: Engine, dot: Dot, journaledAt: number): JourneyStop {
  const { self, journal } = engine.context;
  const applied = holds(shownBy(engine, self.id, journal.applied()), dot);
  return {
    member: self.id,
    name: self.name,
    condition: ownCondition(engine),
    pushedAt: null,
    receivedAt: journaledAt,
    appliedAt: applied ? (engine.ackLoop.appliedAt.at(dot) ?? null) : null,
    received: true,
    applied,
    onDemand: self.onDemand,
  };
}

function stopOf(engine: Engine, peer: Peer, dot: Dot): JourneyStop {
  const received = dot.seq <= (peer.known[dot.origin] ?? 0);
  const applied = holds(shownBy(engine, peer.id, peer.applied), dot);
  return {
    member: peer.id,
    name: engine.peers.nameOf(peer.id),
    condition: conditionOf(engine, peer),
    pushedAt: peer.sentAt.at(dot) ?? null,
    receivedAt: received ? (peer.knownAt.at(dot) ?? null) : null,
    appliedAt: applied ? (peer.appliedAt.at(dot) ?? null) : null,
    received,
    applied,
    onDemand: engine.peers.record(peer.id)?.onDemand,
  };
}
