import { problemCodes } from '@lockstep/shared';
import { type MemberReport, memberStateSchema, type Status } from '@lockstep/shared/api';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { eventLoopLookIntervalMs } from './limits.ts';
import type { MetricsSnapshot } from './queries/metrics.ts';

/** The answer of `/metrics`. */
export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
}

const peerLabels = ['peer', 'peer_id'] as const;
type PeerLabel = (typeof peerLabels)[number];

/** One gauge for each other member that has not left. `read` returns undefined if there is no value. */
const peerGauges: readonly {
  readonly name: string;
  readonly help: string;
  readonly read: (peer: MemberReport) => number | undefined;
}[] = [
  {
    name: 'lockstep_peer_connected',
    help: 'Whether a session with the member is open (1) or not (0).',
    read: (peer) => Number(peer.connected),
  },
  {
    name: 'lockstep_peer_may_be_away',
    help: 'Whether the member is marked as one that is off at times (1) or not (0).',
    read: (peer) => Number(peer.mayBeAway === true),
  },
  {
    name: 'lockstep_peer_round_trip_seconds',
    help: 'Smoothed round trip to the member. Absent while it is not connected.',
    read: (peer) => (peer.rttMs === null ? undefined : peer.rttMs / 1_000),
  },
  {
    name: 'lockstep_peer_lag_operations',
    help: 'Operations known here that the member does not hold durably.',
    read: (peer) => peer.behind,
  },
  {
    name: 'lockstep_peer_lag_seconds',
    help: 'Age of the oldest operation known here that the member does not hold durably; 0 when it lacks none.',
    read: (peer) => peer.behindSeconds,
  },
  {
    name: 'lockstep_peer_send_queue_bytes',
    help: 'Bytes waiting here to be sent to the member.',
    read: (peer) => peer.queuedBytes,
  },
  {
    name: 'lockstep_peer_clock_skew_seconds',
    help: 'How far the clock of the member is ahead of the clock here.',
    read: (peer) => (peer.clockSkewMs === undefined ? undefined : peer.clockSkewMs / 1_000),
  },
];

const peerCounters: readonly {
  readonly name: string;
  readonly help: string;
  readonly read: (peer: MemberReport) => number | undefined;
}[] = [
  {
    name: 'lockstep_peer_sent_bytes_total',
    help: 'File contents sent to the member since the agent started.',
    read: (peer) => peer.sentBytes,
  },
  {
    name: 'lockstep_peer_received_bytes_total',
    help: 'File contents received from the member since the agent started.',
    read: (peer) => peer.receivedBytes,
  },
];

const statusGauges: readonly {
  readonly name: string;
  readonly help: string;
  readonly read: (status: Status) => number | undefined;
}[] = [
  {
    name: 'lockstep_synchronised',
    help: 'Whether all that is known is on this disk and on every member that is up (1) or not (0).',
    read: (status) => Number(status.synchronised),
  },
  { name: 'lockstep_files', help: 'Files in the folder.', read: (status) => status.files },
  { name: 'lockstep_directories', help: 'Directories in the folder.', read: (status) => status.directories },
  { name: 'lockstep_folder_bytes', help: 'Bytes of all files in the folder.', read: (status) => status.bytes },
  {
    name: 'lockstep_free_bytes',
    help: 'Free space of the disk of the folder. Absent while it is not there.',
    read: (status) => status.freeBytes,
  },
  {
    name: 'lockstep_history_versions',
    help: 'Replaced and deleted versions kept on the disk. Absent until they were counted.',
    read: (status) => status.history?.versions,
  },
  {
    name: 'lockstep_history_bytes',
    help: 'Space on the disk of the versions kept. Absent until they were counted.',
    read: (status) => status.history?.bytes,
  },
  {
    name: 'lockstep_history_bytes_max',
    help: 'Space that the versions kept may have now: less on a full disk. Absent until they were counted.',
    read: (status) => status.history?.bytesMax,
  },
  {
    name: 'lockstep_history_age_max_seconds',
    help: 'Time for which a replaced or deleted version is kept at most. Absent until they were counted.',
    read: (status) => status.history && status.history.ageMsMax / 1_000,
  },
  {
    name: 'lockstep_filter_bytes',
    help: 'Memory for what other members told about the contents that they hold.',
    read: (status) => status.filters?.bytes ?? 0,
  },
  {
    name: 'lockstep_journal_operations',
    help: 'Operations in the journal.',
    read: (status) => status.operations,
  },
  {
    name: 'lockstep_pending_paths',
    help: 'Paths that this disk does not show yet.',
    read: (status) => status.pending,
  },
  {
    name: 'lockstep_conflicts',
    help: 'Paths whose siblings no member has joined yet.',
    read: (status) => status.conflicts,
  },
  {
    name: 'lockstep_open_conflict_copies',
    help: 'Conflict copies that are not settled yet.',
    read: (status) => status.conflictCopies,
  },
  {
    name: 'lockstep_paused',
    help: 'Whether this member was paused (1) or takes part (0).',
    read: (status) => Number(status.paused),
  },
  {
    name: 'lockstep_enabled_seconds',
    help: 'When this member last became active, seconds since the epoch. Absent while it never was.',
    read: (status) => (status.member.enabledAt === undefined ? undefined : status.member.enabledAt / 1_000),
  },
];

const snapshotCounters: readonly {
  readonly name: string;
  readonly help: string;
  readonly read: (snapshot: MetricsSnapshot) => number;
}[] = [
  {
    name: 'lockstep_operations_made_total',
    help: 'Operations journaled for changes made in this folder since the agent started.',
    read: (snapshot) => snapshot.operationsMade,
  },
  {
    name: 'lockstep_operations_received_total',
    help: 'Operations journaled that other members made since the agent started.',
    read: (snapshot) => snapshot.operationsReceived,
  },
  {
    name: 'lockstep_entries_applied_total',
    help: 'Entries written, renamed or removed here for other members since the agent started.',
    read: (snapshot) => snapshot.entriesApplied,
  },
  {
    name: 'lockstep_applied_bytes_total',
    help: 'Bytes of the files written here for other members since the agent started.',
    read: (snapshot) => snapshot.bytesApplied,
  },
  {
    name: 'lockstep_reused_bytes_total',
    help: 'Bytes of the files written here for other members that were not sent, as this machine had them, or they are zeros, since the agent started.',
    read: (snapshot) => snapshot.bytesReused,
  },
  {
    name: 'lockstep_conflict_copies_total',
    help: 'Conflict copies made here since the agent started.',
    read: (snapshot) => snapshot.conflictCopies,
  },
  {
    name: 'lockstep_content_questions_total',
    help: 'Members that were asked for contents since the agent started: each counts once for a content.',
    read: (snapshot) => snapshot.contentQuestions,
  },
  {
    name: 'lockstep_false_answers_total',
    help: 'Members that lacked a content although they had told that they hold it, since the agent started.',
    read: (snapshot) => snapshot.falseFilterAnswers,
  },
  {
    name: 'lockstep_scans_total',
    help: 'Whole scans of the folder since the agent started.',
    read: (snapshot) => snapshot.scans,
  },
];

/** Of a member that fetches contents on demand; absent for others. */
const cacheCounters: readonly {
  readonly name: string;
  readonly help: string;
  readonly read: (cache: NonNullable<Status['cache']>) => number;
}[] = [
  {
    name: 'lockstep_cache_hits_total',
    help: 'Reads of files that were here since the agent started.',
    read: (cache) => cache.hits,
  },
  {
    name: 'lockstep_cache_misses_total',
    help: 'Reads of files that had to be fetched since the agent started.',
    read: (cache) => cache.misses,
  },
  {
    name: 'lockstep_cache_prefetched_files_total',
    help: 'Files that were fetched before they were read since the agent started.',
    read: (cache) => cache.prefetchedFiles,
  },
  {
    name: 'lockstep_cache_prefetched_bytes_total',
    help: 'Bytes of the files that were fetched before they were read since the agent started.',
    read: (cache) => cache.prefetchedBytes,
  },
  {
    name: 'lockstep_cache_prefetch_hits_total',
    help: 'First reads of files that were fetched before they were read since the agent started.',
    read: (cache) => cache.prefetchHits,
  },
];

/**
 * The registry behind `/metrics`. It counts nothing itself: every scrape reads the current values of the agent. So a member that left or a
 * problem that ended leaves no stale series. Labels are member names and fixed words, never a path.
 */
export function createMetrics(read: () => { readonly status: Status; readonly snapshot: MetricsSnapshot }): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  const updates: ((status: Status, snapshot: MetricsSnapshot) => void)[] = [];

  for (const { name, help, read } of statusGauges) {
    const gauge = new Gauge({ name, help, registers });
    updates.push((status) => {
      const value = read(status);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    });
  }
  for (const { name, help, read } of snapshotCounters) {
    const counter = new Counter({ name, help, registers });
    updates.push((_status, snapshot) => {
      counter.reset();
      counter.inc(read(snapshot));
    });
  }
  for (const { name, help, read } of cacheCounters) {
    const counter = new Counter({ name, help, registers });
    updates.push(({ cache }) => {
      counter.reset();
      if (cache === undefined) counter.remove();
      else counter.inc(read(cache));
    });
  }
  for (const { name, help, read } of peerGauges) {
    const gauge = new Gauge<PeerLabel>({ name, help, labelNames: peerLabels, registers });
    updates.push((status) => {
      gauge.reset();
      forEachPeer(status, read, (labels, value) => gauge.set(labels, value));
    });
  }
  for (const { name, help, read } of peerCounters) {
    const counter = new Counter<PeerLabel>({ name, help, labelNames: peerLabels, registers });
    updates.push((status) => {
      counter.reset();
      forEachPeer(status, read, (labels, value) => counter.inc(labels, value));
    });
  }
  updates.push(membersByState(registers), problemsByCode(registers), queueLengths(registers), information(registers));

  let processMetrics = false;
  return {
    contentType: registry.contentType,
    render: () => {
      // They measure the event loop with a timer of their own, which an agent without scrapes does not need.
      if (!processMetrics) {
        collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLookIntervalMs });
      }
      processMetrics = true;
      const { status, snapshot } = read();
      for (const update of updates) update(status, snapshot);
      return registry.metrics();
    },
  };
}

function forEachPeer(
  status: Status,
  read: (peer: MemberReport) => number | undefined,
  show: (labels: Record<PeerLabel, string>, value: number) => void,
): void {
  for (const member of status.members) {
    if (member.self || member.state === 'left') continue;
    const value = read(member);
    // Two members may have the same name; the beginning of the id distinguishes them.
    if (value !== undefined) show({ peer: member.name, peer_id: member.id.slice(0, 8) }, value);
  }
}

function membersByState(registers: Registry[]) {
  const help = 'Members of the cluster in each state, this one included.';
  const gauge = new Gauge({ name: 'lockstep_members', help, labelNames: ['state'], registers });
  return (status: Status) => {
    for (const state of memberStateSchema.options) {
      gauge.set({ state }, status.members.filter((member) => member.state === state).length);
    }
  };
}

function problemsByCode(registers: Registry[]) {
  const help = 'Current problems by code. Every code is always present.';
  const gauge = new Gauge({ name: 'lockstep_problems', help, labelNames: ['code'], registers });
  return (_status: Status, { problems }: MetricsSnapshot) => {
    for (const code of problemCodes) gauge.set({ code }, problems.get(code) ?? 0);
  };
}

function queueLengths(registers: Registry[]) {
  const help = 'Items waiting in each queue of the agent.';
  const gauge = new Gauge({ name: 'lockstep_queue_items', help, labelNames: ['queue'], registers });
  return (_status: Status, { queues }: MetricsSnapshot) => {
    gauge.reset();
    for (const [queue, length] of Object.entries(queues)) gauge.set({ queue }, length);
  };
}

function information(registers: Registry[]) {
  const help = 'Always 1; its labels identify this member.';
  const labelNames = ['member', 'member_id', 'state', 'software'];
  const gauge = new Gauge({ name: 'lockstep_info', help, labelNames, registers });
  return ({ member }: Status) => {
    gauge.reset();
    gauge.set(
      { member: member.name, member_id: member.id.slice(0, 8), state: member.state, software: member.software },
      1,
    );
  };
}
