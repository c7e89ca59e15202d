import { LockstepError, type Problem } from '@lockstep/shared';
import {
  type Conflict,
  type Journey,
  type LoggedOperation,
  latencyHistoryMs,
  latencySampleMs,
  type MemberReport,
  type PathReport,
  type Status,
} from '@lockstep/shared/api';
import type { AgentFacade } from '../http/facade.ts';
import { areCut, cast, type Part, reports, roundTripMs } from './cast.ts';
import { conflicts, contentOf } from './conflicts.ts';
import { Feed } from './feed.ts';
import { transfersAt } from './transfers.ts';
import { Tree } from './tree.ts';

const sparklineMs = 60_000;
/** For how long those who are away, or cut off from each other, have been so when the show begins. */
const goneMs = 20 * 60_000;

/** The answers of an agent in a cluster of fifty that does not exist: for looking at the page, and for nothing else. */
export class MadeUpAgent implements AgentFacade {
  readonly #begunAt = Date.now();
  readonly #parts = cast();
  /** Those that have not left. */
  readonly #present = this.#parts.filter(({ odd }) => odd(0).state !== 'left');
  readonly #feed: Feed;
  readonly #tree = new Tree(this.#present, this.#begunAt);
  #conflicts: readonly Conflict[] = conflicts(this.#present, this.#begunAt);
  #paused = false;

  constructor(operationsPerSecond: number) {
    const makers = this.#present.filter(({ odd }) => odd(0).state === undefined);
    this.#feed = new Feed(makers, operationsPerSecond);
  }

  close(): void {
    this.#feed.close();
  }

  health() {
    return { ok: true, state: 'active' as const };
  }

  members(): readonly MemberReport[] {
    return reports(this.#parts, this.#begunAt, Date.now());
  }

  status(): Status {
    const now = Date.now();
    const members = this.members();
    const [self] = members;
    if (self === undefined) throw new RangeError('the cast is empty');
    const problems = problemsAt(this.#begunAt);
    const { id, name, state, addresses, enabledAt, freeBytes = 0, files = 0, bytes = 0 } = self;
    return {
      member: {
        id,
        name,
        state,
        software: '0.1.0',
        startedAt: this.#begunAt - 90_000_000,
        enabledAt,
        address: '0.0.0.0:4700',
        addresses,
        folder: '/srv/office',
        dashboard: 'http://127.0.0.1:4800/',
        origin: `${id}.abcdefgh`,
      },
      now,
      paused: this.#paused,
      synchronised: false,
      pending: 7,
      conflicts: 0,
      conflictCopies: this.#conflicts.length,
      problems,
      problemCount: problems.length,
      files,
      directories: 3_107,
      bytes,
      freeBytes,
      load: 0.11,
      operations: this.#feed.rows,
      version: {},
      digest: '0123456789abcdef',
      lastEvent: 0,
      oldestMember: id,
      members,
    };
  }

  latencies() {
    const at = Date.now();
    const latencies = this.#present.flatMap((from) =>
      this.#present
        .filter((to) => to !== from)
        .map((to) => {
          const rttMs = this.#measured(from, to, at);
          return { from: from.id, to: to.id, rttMs, at: rttMs === null ? this.#begunAt - goneMs : at };
        }),
    );
    return { latencies };
  }

  latencyHistory({ from, to }: { readonly from: string; readonly to: string }) {
    const samples = this.#samples(this.#part(from), this.#part(to), latencySampleMs);
    return { from, to, everyMs: latencySampleMs, samples };
  }

  recentLatencies() {
    const [asked, ...others] = this.#present;
    const members = others.map((other) => ({
      member: other.id,
      samples: asked === undefined ? [] : this.#samples(asked, other, sparklineMs).map(({ rttMs }) => rttMs),
    }));
    return { everyMs: sparklineMs, members };
  }

  operations(query: Parameters<AgentFacade['operations']>[0]) {
    return this.#feed.page(query);
  }

  onJournaled(wake: () => void) {
    return this.#feed.onJournaled(wake);
  }

  journey(origin: string, seq: number): Journey | undefined {
    const operation = this.#feed.find(origin, seq);
    if (operation === undefined) return undefined;
    const author = this.#part(operation.member);
    const stops = this.members()
      .filter(({ state }) => state !== 'left')
      .sort((a, b) => Number(b.id === author.id) - Number(a.id === author.id))
      .map(({ id, name, state }) => {
        const wayMs = id === author.id ? 0 : roundTripMs(author, this.#part(id), operation.at) / 2;
        const has = state === 'active';
        return {
          member: id,
          name,
          state,
          pushedAt: null,
          receivedAt: has ? operation.at + wayMs + 2 : null,
          appliedAt: has ? operation.at + wayMs + 9 : null,
          received: has,
          applied: has,
        };
      });
    const holding = stops.filter(({ applied }) => applied).length;
    return { operation, writtenAt: operation.at - 3, madeAt: operation.at, stops, holding, members: stops.length };
  }

  path(path: string): PathReport {
    const entry = this.#tree.find(path);
    const kind = entry?.type === 'directory' ? 'mkdir' : 'put';
    const missing = new Set(entry?.missing);
    const log: LoggedOperation[] =
      entry === undefined
        ? []
        : [0, 1, 2].map((age) => ({
            row: entry.seq - age,
            journaledAt: entry.at - age * 7e8,
            origin: entry.origin,
            seq: entry.seq - age,
            member: entry.writer,
            memberName: entry.writerName,
            at: entry.at - age * 7e8,
            hlc: 0,
            kind,
            path,
            ...(entry.size !== undefined && { size: entry.size }),
          }));
    return {
      path,
      known: entry !== undefined,
      ignored: false,
      heads: log.slice(0, 1),
      disk: null,
      pending: false,
      waitsFor: missing.size === 0 ? [] : [{ reason: 'owl and tern are down and have not got it.' }],
      holders: this.members()
        .filter(({ state }) => state !== 'left')
        .map(({ id, name, state }) => ({ member: id, name, state, holds: entry !== undefined && !missing.has(id) })),
      problem: null,
      conflictCopies: this.#conflicts.filter((conflict) => conflict.path === path).map(({ copy }) => copy.path),
      log,
    };
  }

  tree(query: Parameters<AgentFacade['tree']>[0]) {
    return this.#tree.page(query);
  }

  async search({ name, limit }: Parameters<AgentFacade['search']>[0]) {
    return this.#tree.search(name, limit);
  }

  conflicts() {
    return { conflicts: this.#conflicts, next: null, total: this.#conflicts.length };
  }

  async resolveConflicts(request: Parameters<AgentFacade['resolveConflicts']>[0]) {
    const settled = new Set(request.conflicts.map(({ copy }) => copy));
    this.#conflicts = this.#conflicts.filter(({ copy }) => !settled.has(copy.path));
    return { results: [...settled].map((copy) => ({ copy, done: true })) };
  }

  async content(path: string) {
    return contentOf(path);
  }

  transfers() {
    return transfersAt(this.members(), this.#begunAt, Date.now());
  }

  pause() {
    this.#paused = true;
    return { paused: true };
  }

  resume() {
    this.#paused = false;
    return { paused: false };
  }

  retry() {
    return { paths: 7 };
  }

  async acceptMount({ path }: { readonly path: string }) {
    return { accepted: path };
  }

  async rescan() {
    return { operations: 0, elapsedMs: 1_204 };
  }

  /** Nothing but the operations happens here: the page asks for the rest at intervals. */
  events() {
    return { events: [], oldest: 1, last: 0 };
  }

  onEvents() {
    return () => undefined;
  }

  metrics() {
    const none = { operationsReceived: 0, entriesApplied: 0, bytesApplied: 0, conflictCopies: 0, scans: 0 };
    return { ...none, operationsMade: this.#feed.rows, queues: {} };
  }

  wait(): never {
    throw noAgent();
  }

  leave(): never {
    throw noAgent();
  }

  replay(): never {
    throw noAgent();
  }

  verify(): never {
    throw noAgent();
  }

  #part(id: string): Part {
    const part = this.#present.find((known) => known.id === id);
    if (part === undefined) throw new LockstepError('request-invalid', `No member of the cluster has the id ${id}.`);
    return part;
  }

  #measured(from: Part, to: Part, at: number): number | null {
    const isOff = [from, to].some(({ odd }) => odd(this.#begunAt).connected === false);
    return isOff || areCut(from, to) ? null : roundTripMs(from, to, at);
  }

  #samples(from: Part, to: Part, everyMs: number) {
    const last = Math.floor(Date.now() / everyMs) * everyMs;
    return Array.from({ length: latencyHistoryMs / everyMs }, (_, index) => {
      const at = last - latencyHistoryMs + (index + 1) * everyMs;
      // koi came half an hour ago.
      const isKnown = ![from, to].some(({ name }) => name === 'koi') || at > last - latencyHistoryMs / 2;
      const wasOpen = areCut(from, to) && at < this.#begunAt - goneMs;
      return { at, rttMs: wasOpen ? roundTripMs(from, to, at) : isKnown ? this.#measured(from, to, at) : null };
    });
  }
}

function noAgent(): LockstepError {
  return new LockstepError('request-invalid', 'This cluster is made up: there is no agent behind this page.');
}

function problemsAt(begunAt: number): Problem[] {
  const locked = 'Letters/confidential/offer.md cannot be read: give the agent’s user permission to read it.';
  const long =
    'A name in Photos 2026/Regatta is not UTF-8 (photo-\\xe4.jpg). It is not replicated: rename it, and it will be.';
  return [
    { code: 'path-permission', path: 'Letters/confidential/offer.md', detail: locked, since: begunAt - 5_000_000 },
    { code: 'path-not-utf8', path: 'Photos 2026/Regatta', detail: long, since: begunAt - 91_000_000 },
  ];
}
