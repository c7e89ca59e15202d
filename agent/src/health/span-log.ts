import type { MemberCondition } from '@lockstep/shared';
import { type Beats, type HealthSpan, healthSpans } from '@lockstep/shared/api';
import type Sqlite from 'better-sqlite3';

/** The spans of one member that are kept: the oldest of one that changes all the time are dropped. Some 3 MB for 64 such members. */
const spansMax = 1_000;

interface Span {
  readonly began: number;
  ended: number;
  readonly condition: MemberCondition;
}

interface SpanRow extends Span {
  readonly member: string;
}

/** Conditions of which nothing is kept: a member that has left has none, and one that was not heard yet is not known. */
const notKept: ReadonlySet<MemberCondition> = new Set(['unknown', 'left']);

/**
 * The conditions of the members over time: a row for each time that a member stayed in one condition. A time without a row is not known,
 * because the agent did not run.
 */
export class SpanLog {
  readonly #open = new Map<string, Span>();
  readonly #save: Sqlite.Statement<[string, number, number, string]>;
  readonly #within: Sqlite.Statement<[number, number], SpanRow>;
  readonly #lastEnd: Sqlite.Statement<[], { ended: number | null }>;
  readonly #dropOld: Sqlite.Statement<[number]>;
  readonly #dropMany: Sqlite.Statement<[number]>;

  constructor(database: Sqlite.Database) {
    this.#save = database.prepare(
      'INSERT INTO spans (member, began, ended, condition) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET ended = excluded.ended',
    );
    this.#within = database.prepare(
      'SELECT member, began, ended, condition FROM spans WHERE ended > ? AND began < ? ORDER BY member, began',
    );
    this.#lastEnd = database.prepare('SELECT max(ended) AS ended FROM spans');
    this.#dropOld = database.prepare('DELETE FROM spans WHERE ended < ?');
    this.#dropMany = database.prepare(
      `DELETE FROM spans WHERE (member, began) IN (
         SELECT member, began FROM (SELECT member, began, row_number() OVER (PARTITION BY member ORDER BY began DESC) AS place FROM spans)
         WHERE place > ?)`,
    );
  }

  /** The end of the last span, of this or an earlier run. */
  lastEnd(): number | undefined {
    return this.#lastEnd.get()?.ended ?? undefined;
  }

  /** Notes the present conditions. A change is written at once, and the ends of the other spans with `flush`. */
  note(now: number, conditions: ReadonlyMap<string, MemberCondition>): void {
    for (const [member, span] of this.#open) {
      const condition = conditions.get(member);
      span.ended = now;
      if (condition === span.condition) continue;
      this.#write(member, span);
      this.#open.delete(member);
    }
    for (const [member, condition] of conditions) {
      if (this.#open.has(member) || notKept.has(condition)) continue;
      const span: Span = { began: now, ended: now, condition };
      this.#open.set(member, span);
      this.#write(member, span);
    }
  }

  /** Ends all spans where they were last noted: what came since is not known. */
  breakOff(): void {
    this.flush();
    this.#open.clear();
  }

  /** Writes the ends of the open spans. */
  flush(): void {
    for (const [member, span] of this.#open) this.#write(member, span);
  }

  drop(before: number): void {
    this.#dropOld.run(before);
    this.#dropMany.run(spansMax);
  }

  /** The conditions of `members` over a time that ends now, in beats that begin at fixed moments. */
  beats(now: number, span: HealthSpan, members: readonly string[]): Beats {
    const { ms, beatMs } = healthSpans[span];
    const until = (Math.floor(now / beatMs) + 1) * beatMs;
    const from = until - ms;
    const seconds = new Map(
      members.map((member) => [
        member,
        Array.from({ length: ms / beatMs }, (): Partial<Record<MemberCondition, number>> => ({})),
      ]),
    );
    for (const { member, began, ended, condition } of this.#rows(from, now)) {
      const beats = seconds.get(member);
      if (beats === undefined) continue;
      const last = Math.min(beats.length - 1, Math.floor((ended - from) / beatMs));
      for (let index = Math.max(0, Math.floor((began - from) / beatMs)); index <= last; index++) {
        const start = from + index * beatMs;
        const ms = Math.min(ended, start + beatMs) - Math.max(began, start);
        const beat = beats[index];
        if (beat !== undefined && ms > 0) beat[condition] = (beat[condition] ?? 0) + ms / 1_000;
      }
    }
    return {
      from,
      everyMs: beatMs,
      members: [...seconds].map(([member, beats]) => ({ member, beats: beats.map((each) => ({ seconds: each })) })),
    };
  }

  /** The rows of that time, with the open spans as they are now. */
  *#rows(from: number, until: number): Generator<SpanRow> {
    for (const row of this.#within.all(from, until)) {
      const open = this.#open.get(row.member);
      if (open?.began !== row.began) yield row;
    }
    for (const [member, span] of this.#open) yield { member, ...span };
  }

  #write(member: string, { began, ended, condition }: Span): void {
    this.#save.run(member, began, ended, condition);
  }
}
