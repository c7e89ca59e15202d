import type { MemberCondition } from '@lockstep/shared';
import type { Status } from '@lockstep/shared/api';
import type Sqlite from 'better-sqlite3';
import type { Log } from '../sync/ports/log.ts';
import { compareHealth, type EventMemory, type NewEvent } from './event-diff.ts';
import { EventLog } from './event-log.ts';
import { allPairsMembersMax, LatencyLog, type PairSamples } from './latency-log.ts';
import { SpanLog } from './span-log.ts';

/** The time for which the history is kept. */
const keptMs = 30 * 86_400_000;

/** Ends of spans and latencies are written at this interval. */
const flushMs = 60_000;

/** The interval at which outdated records are dropped. */
const dropMs = 6 * 3_600_000;

/** A longer time between two examinations was not seen: the machine slept, or its clock was set. */
const unseenMs = 30_000;

export interface RecorderOptions {
  readonly database: Sqlite.Database;
  readonly log: Log;
  /** The round trips since the last call, of all pairs or only of those that this member measures. */
  readonly takeLatencies: (all: boolean) => readonly PairSamples[];
}

/** Keeps the history of health in `health.db`. A disk without room costs history, and nothing else. */
export class Recorder {
  readonly spans: SpanLog;
  readonly latency: LatencyLog;
  readonly events: EventLog;
  readonly #options: RecorderOptions;
  #memory: EventMemory;
  #lastStatus: Status | undefined;
  #flushAt = 0;
  #dropAt = 0;
  #isFailing = false;

  constructor(options: RecorderOptions) {
    const { database } = options;
    this.#options = options;
    this.spans = new SpanLog(database);
    this.latency = new LatencyLog(database);
    this.events = new EventLog(database);
    this.#memory = this.events.memory();
  }

  /** Notes what the status says. */
  note(status: Status): void {
    this.#write(() => {
      const { now, members } = status;
      const events = this.#lastStatus === undefined ? [this.#started(status)] : [];
      const unseen = this.#lastStatus === undefined ? 0 : now - this.#lastStatus.now;
      if (unseen < 0 || unseen > unseenMs) this.spans.breakOff();
      this.spans.note(now, conditionsOf(status));
      const compared = compareHealth(this.#memory, status);
      this.#addEvents(now, [...events, ...compared.events], compared.memory);
      if (now >= this.#flushAt || now < this.#flushAt - flushMs) {
        this.#flushAt = now + flushMs;
        this.spans.flush();
        const joined = members.filter(({ condition }) => condition !== 'left').length;
        this.latency.add(now, this.#options.takeLatencies(joined <= allPairsMembersMax));
      }
      if (now >= this.#dropAt) {
        this.#dropAt = now + dropMs;
        this.spans.drop(now - keptMs);
        this.latency.drop(now);
        this.events.drop(now - keptMs);
      }
      this.#lastStatus = status;
    });
  }

  /** The agent ends in order. */
  stop(now: number): void {
    this.#write(() => {
      if (this.#lastStatus === undefined) return;
      const { id, name } = this.#lastStatus.member;
      const unseen = now - this.#lastStatus.now;
      if (unseen > 0 && unseen <= unseenMs) this.spans.note(now, conditionsOf(this.#lastStatus));
      this.spans.breakOff();
      this.events.add(now, [{ kind: 'stopped', member: id, name, data: {} }], this.#memory);
    });
  }

  #started({ now, member: { id, name } }: Status): NewEvent {
    const last = this.spans.lastEnd();
    const data = last === undefined ? {} : { awayMs: Math.max(0, Math.round(now - last)) };
    return { kind: 'started', member: id, name, data };
  }

  #addEvents(now: number, events: readonly NewEvent[], memory: EventMemory): void {
    const isSame = events.length === 0 && JSON.stringify(memory) === JSON.stringify(this.#memory);
    if (isSame) return;
    this.events.add(now, events, memory);
    this.#memory = memory;
  }

  #write(body: () => void): void {
    try {
      this.#options.database.transaction(body)();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.log.warn({ error: String(error) }, 'the history of health could not be written');
      this.#isFailing = true;
      this.latency.forgetPairs();
    }
  }
}

function conditionsOf({ members }: Status): ReadonlyMap<string, MemberCondition> {
  return new Map(members.map(({ id, condition }) => [id, condition]));
}
