import { SOFTWARE_VERSION } from '@lockstep/shared';
import type { Health, Status } from '@lockstep/shared/api';
import { oldestActive } from '../../core/membership.ts';
import { countBeyond } from '../../core/version.ts';
import type { Engine } from '../../sync/engine.ts';
import type { Place } from '../served-member.ts';
import { readMembers } from './members.ts';
import { delayingLimits } from './rate-limits.ts';

const problemsListed = 1_000;

/** The state of this member, and of all others as it knows them. */
export function readStatus(engine: Engine, place: Place): Status {
  const { journal, self, problems, clock } = engine.context;
  const counts = journal.totals.counts();
  const members = readMembers(engine);
  const joined = members.filter((member) => member.state !== 'left');
  // Those of the whole member first: a full disk also has one for each file.
  const problemList = [...problems.list()].sort((a, b) => Number(a.path !== undefined) - Number(b.path !== undefined));
  const work = engine.work.list();
  const limits = delayingLimits(engine);
  const known = journal.log.known();
  const shortRules = engine.copies.placement.shortRules();
  return {
    member: {
      id: self.id,
      name: self.name,
      state: engine.lifecycle.state,
      software: SOFTWARE_VERSION,
      startedAt: Math.max(0, Math.round(clock.wallMs() - (clock.monotonicMs() - place.startedMs))),
      enabledAt: engine.lifecycle.enabledAt,
      address: place.address,
      addresses: self.addresses,
      folder: place.folder,
      dashboard: place.dashboard,
      origin: journal.origin,
    },
    now: clock.wallMs(),
    paused: engine.pause.isOn,
    synchronised:
      !engine.pause.isOn &&
      engine.lifecycle.state === 'active' &&
      counts.pending === 0 &&
      counts.contested === 0 &&
      engine.localChanges.unsettled === 0 &&
      !engine.dialer.isRefused() &&
      !engine.peers.failures.areAny &&
      joined.every((member) => (!member.connected && member.via === undefined) || member.behind === 0) &&
      // A member that is away may know more than any member that is here.
      engine.peers.all().every((peer) => peer.state === 'left' || countBeyond(peer.known, known) === 0),
    pending: counts.pending,
    conflicts: counts.contested,
    conflictCopies: journal.conflictCopies.count(),
    problems: problemList.slice(0, problemsListed).map((problem) => ({ ...problem })),
    problemCount: problems.count,
    problemCounts: problems.count > problemsListed ? Object.fromEntries(problems.countsByCode()) : undefined,
    files: counts.disk.files,
    directories: counts.disk.directories,
    bytes: counts.disk.bytes,
    freeBytes: engine.health.folder.room?.freeBytes,
    cache: engine.onDemand.report(),
    filters: filters(engine),
    history: engine.retention.report(),
    load: engine.health.load,
    operations: journal.log.length(),
    version: known,
    digest: journal.totals.digest(),
    lastEvent: journal.events.lastNumber(),
    oldestMember: oldestMember(engine),
    catchUp: engine.catchUp.progress(),
    ...(shortRules.length > 0 && { shortRules }),
    ...(work.length > 0 && { work }),
    ...(limits.length > 0 && { limits }),
    members,
  };
}

/** The memory that the filters of other members take here; undefined if there are none. */
function filters({ peers }: Engine): Status['filters'] {
  const told = peers.all().flatMap(({ holdings }) => holdings ?? []);
  if (told.length === 0) return undefined;
  return { members: told.length, bytes: told.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** The id of the oldest member as this one sees it. */
function oldestMember(engine: Engine): string | undefined {
  const { self } = engine.context;
  const others = engine.peers.all().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
  return oldestActive([
    { id: self.id, state: engine.lifecycle.state, enabledAt: engine.lifecycle.enabledAt },
    ...others,
  ])?.id;
}

/** The health of the member: `ok` while it can do its work. */
export function readHealth({ lifecycle: { state }, health }: Engine): Health {
  return health.folder.ok ? { ok: true, state } : { ok: false, state, detail: health.folder.detail };
}
