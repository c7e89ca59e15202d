import { isBelow } from '@lockstep/shared';
import type { ApiEvent, LoggedOperation, MemberReport, Status, TreeEntry } from '@lockstep/shared/api';
import type { AgentFacade } from '../../src/http/facade.ts';
import { shownType } from '../../src/http/shown-type.ts';

const ids = { ant: 'a'.repeat(52), bee: 'b'.repeat(52), cat: 'c'.repeat(52) };

/** The moment at which everything in the fake happens. */
export const fakeNow = Date.UTC(2026, 10, 21, 6, 56, 2);

function member(name: keyof typeof ids, more: Partial<MemberReport>): MemberReport {
  return {
    id: ids[name],
    name,
    self: false,
    state: 'active',
    connected: true,
    rttMs: 1.5,
    behind: 0,
    behindSeconds: 0,
    addresses: [`${name}.example.net:4700`],
    software: '0.1.0',
    enabledAt: fakeNow - 60_000,
    lastSeenAt: fakeNow,
    pending: 0,
    problems: 0,
    files: 1_204,
    bytes: 5_000_000,
    freeBytes: 80_000_000_000,
    load: 0.02,
    queuedBytes: 0,
    sentBytes: 4_096,
    receivedBytes: 1_024,
    ...more,
  };
}

function operation(row: number): LoggedOperation {
  return {
    row,
    journaledAt: fakeNow + row,
    origin: `${ids.ant}.abcdefgh`,
    seq: row,
    member: ids.ant,
    memberName: 'ant',
    at: fakeNow + row,
    hlc: (fakeNow + row) * 1024,
    kind: 'put',
    path: `notes/${row}.txt`,
    content: `b3:${'0'.repeat(64)}`,
    size: 12,
    mode: 0o644,
    mtimeUs: fakeNow * 1_000,
  };
}

function entry(path: string): TreeEntry {
  const { origin, seq, member: writer, memberName: writerName, at, size } = operation(1);
  const shown = {
    origin,
    seq,
    writer,
    writerName,
    at,
    holding: 2,
    missing: [ids.cat],
    conflict: false,
    pending: false,
  };
  return { path, name: path.slice(path.lastIndexOf('/') + 1), type: 'file', size, ...shown };
}

/** An agent's answers without an agent, for the tests of the HTTP layer alone. Tests change `state` and call `addEvents`. */
export class FakeFacade implements AgentFacade {
  readonly state: Status;
  healthy = true;
  /** Events below this number are forgotten. */
  oldestEvent = 1;
  readonly all: ApiEvent[] = [];
  readonly waits: AbortSignal[] = [];
  readonly #wakes = new Set<() => void>();
  #operations = 5;
  readonly #operationWakes = new Set<() => void>();

  constructor() {
    const members = [
      member('ant', { self: true, rttMs: null }),
      member('bee', { latenciesMs: { [ids.ant]: 1.4, [ids.cat]: 2.5 } }),
      member('cat', { state: 'down', connected: false, rttMs: null, behind: 7, behindSeconds: 42 }),
    ];
    this.state = {
      member: {
        id: ids.ant,
        name: 'ant',
        state: 'active',
        software: '0.1.0',
        startedAt: fakeNow - 90_000,
        enabledAt: fakeNow - 60_000,
        address: '0.0.0.0:4700',
        addresses: ['ant.example.net:4700'],
        folder: '/home/ant/shared',
        dashboard: 'http://127.0.0.1:4800/',
        origin: `${ids.ant}.abcdefgh`,
      },
      now: fakeNow,
      paused: false,
      synchronised: true,
      pending: 0,
      conflicts: 0,
      conflictCopies: 0,
      problems: [
        { code: 'path-permission', path: 'secret/key', detail: 'secret/key cannot be read: allow it.', since: fakeNow },
      ],
      problemCount: 1,
      files: 1_204,
      directories: 37,
      bytes: 5_000_000,
      freeBytes: 80_000_000_000,
      load: 0.02,
      operations: 1_300,
      version: { [`${ids.ant}.abcdefgh`]: 1_300 },
      digest: '0123456789abcdef',
      lastEvent: 0,
      oldestMember: ids.ant,
      members,
    };
  }

  /** Adds `count` events, and wakes the readers once. */
  addEvents(count: number): void {
    for (let index = 0; index < count; index++) {
      const number = this.all.length + 1;
      this.all.push({ number, at: fakeNow + number, kind: 'synchronised', data: { files: number } });
    }
    for (const wake of this.#wakes) wake();
  }

  get readers(): number {
    return this.#wakes.size + this.#operationWakes.size;
  }

  health() {
    return this.healthy
      ? { ok: true, state: this.state.member.state }
      : { ok: false, state: this.state.member.state, detail: 'The folder is gone: mount its disk again.' };
  }

  status() {
    return this.state;
  }

  members() {
    return this.state.members;
  }

  latencies() {
    const pair = (from: string, to: string, rttMs: number | null) => ({ from, to, rttMs, at: rttMs && fakeNow });
    return { latencies: [pair(ids.ant, ids.bee, 1.5), pair(ids.bee, ids.ant, 1.4), pair(ids.ant, ids.cat, null)] };
  }

  latencyHistory({ from, to }: { from: string; to: string }) {
    const samples = [
      { at: fakeNow - 10_000, rttMs: null },
      { at: fakeNow, rttMs: 1.5 },
    ];
    return { from, to, everyMs: 10_000, samples };
  }

  recentLatencies() {
    return { everyMs: 60_000, members: [{ member: ids.bee, samples: [1.2, null, 1.5] }] };
  }

  operations(query: Parameters<AgentFacade['operations']>[0]) {
    const rows = Array.from({ length: this.#operations }, (_, index) => operation(index + 1)).filter(
      (row) => query.path === undefined || row.path === query.path || isBelow(row.path, query.path),
    );
    const { after, before } = query;
    const chosen =
      after === undefined
        ? rows.filter(({ row }) => before === undefined || row < before).reverse()
        : rows.filter(({ row }) => row > after);
    const operations = chosen.slice(0, query.limit);
    return { operations, next: operations.length < chosen.length ? (operations.at(-1)?.row ?? null) : null };
  }

  /** Adds `count` operations, and wakes the readers once. */
  addOperations(count: number): void {
    this.#operations += count;
    for (const wake of this.#operationWakes) wake();
  }

  journey(origin: string, seq: number) {
    const row = operation(seq);
    if (origin !== row.origin || seq > this.#operations) return undefined;
    const stops = this.state.members.map(({ id, name, state }) => ({
      member: id,
      name,
      state,
      pushedAt: state === 'active' ? row.at : null,
      receivedAt: state === 'active' ? row.at + 1 : null,
      appliedAt: state === 'active' ? row.at + 3 : null,
      received: state === 'active',
      applied: state === 'active',
    }));
    return { operation: row, writtenAt: fakeNow, madeAt: row.at, stops, holding: 2, members: stops.length };
  }

  onJournaled(wake: () => void) {
    this.#operationWakes.add(wake);
    return () => {
      this.#operationWakes.delete(wake);
    };
  }

  path(path: string) {
    const head = { ...operation(1), path };
    return {
      path,
      known: true,
      ignored: false,
      heads: [head],
      disk: { type: 'file' as const, size: 12, mode: 0o644, mtimeMs: fakeNow, origin: head.origin, seq: head.seq },
      pending: false,
      waitsFor: [],
      holders: this.state.members.map(({ id, name, state }) => ({
        member: id,
        name,
        state,
        holds: state === 'active',
      })),
      problem: null,
      conflictCopies: [],
      log: [head],
    };
  }

  tree({ path }: { path: string }) {
    return { path, entries: [entry(path === '' ? '1.txt' : `${path}/1.txt`)], total: 1, next: null, members: 3 };
  }

  async search({ name }: { name: string }) {
    return { entries: [entry(`notes/${name}`)], more: false, members: 3 };
  }

  conflicts(): ReturnType<AgentFacade['conflicts']> {
    return { conflicts: [], next: null, total: 0 };
  }

  async resolveConflicts({ conflicts }: Parameters<AgentFacade['resolveConflicts']>[0]) {
    return { results: conflicts.map(({ copy }) => ({ copy, done: true })) };
  }

  async content(path: string) {
    const bytes = Buffer.from('<script>alert(1)</script>');
    return { bytes, type: shownType(path, bytes) };
  }

  /** Never done by itself: answers when the signal aborts, or at once when no time is given. */
  async wait(request: Parameters<AgentFacade['wait']>[0], signal: AbortSignal) {
    this.waits.push(signal);
    if (request.timeoutMs > 0 && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    const reason = 'cat is down and has not got it.';
    return { done: false, wanted: 3, holding: 2, members: 3, elapsedMs: 0, blocking: [{ memberName: 'cat', reason }] };
  }

  async leave() {
    return { told: ['bee'] };
  }

  async replay() {
    return { files: 3, directories: 1, symlinks: 0, bytes: 36, missing: [], elapsedMs: 5 };
  }

  async verify() {
    const same = { compared: 1_204, differing: 0, paths: [] };
    return { ok: true, heads: same, disk: same, elapsedMs: 5 };
  }

  async rescan() {
    return { operations: 0, elapsedMs: 5 };
  }

  transfers() {
    return { transfers: [], pending: 0, pendingPaths: [], traffic: [], resyncs: [] };
  }

  pause() {
    this.state.paused = true;
    return { paused: true };
  }

  resume() {
    this.state.paused = false;
    return { paused: false };
  }

  retry() {
    return { paths: this.state.pending };
  }

  async acceptMount({ path }: { readonly path: string }) {
    return { accepted: path };
  }

  events({ after, limit }: { after: number; limit: number }) {
    const kept = this.all.filter(({ number }) => number >= this.oldestEvent);
    return {
      events: kept.filter(({ number }) => number > after).slice(0, limit),
      oldest: kept[0]?.number ?? this.all.length + 1,
      last: this.all.length,
    };
  }

  onEvents(wake: () => void) {
    this.#wakes.add(wake);
    return () => {
      this.#wakes.delete(wake);
    };
  }

  metrics() {
    return {
      operationsMade: 900,
      operationsReceived: 400,
      entriesApplied: 380,
      bytesApplied: 4_000_000,
      conflictCopies: 1,
      scans: 2,
      queues: { dirty: 0, pending: 3 },
    };
  }
}

/** A log that keeps what was said. */
export function memoryLog() {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
