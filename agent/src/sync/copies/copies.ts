import { type CopiesRule, copiesRulesMax, type LackingCopies, LockstepError, type Operation } from '@lockstep/shared';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import { type Copies as CopiesNumber, patternFault } from '../../core/copies/copies-rules.ts';
import { nextRoom } from '../../core/copies/room.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import { ownRecord, writeOwnRecord } from '../members/own-record.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';
import { CopiesKeeper, type Fetch } from './copies-keeper.ts';
import type { Placement } from './placement.ts';

/** The room of a member changes at most so often: each change is an operation. */
const roomEveryMs = 60_000;
/** It grows only so long after it fell, unless the cache was made larger. */
const roomGrowsAfterMs = 3_600_000;

/** The copies that the cluster keeps: the rules, and this member's share. */
export class Copies {
  readonly placement: Placement;
  readonly keeper: CopiesKeeper;
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  readonly #peers: Peers;
  readonly #isActive: () => boolean;
  readonly #bytesMax: () => number;
  readonly #roomBytes: () => number;
  #roomAtMs: number | undefined;
  #fell: { readonly atMs: number; readonly bytesMax: number } | undefined;

  /** `bytesMax`: the bytes that the contents on this member may take. `roomBytes`: the part of them for which the disk has room. */
  constructor(
    context: Context,
    parts: {
      readonly peers: Peers;
      readonly placement: Placement;
      readonly operationWriter: OperationWriter;
      readonly isActive: () => boolean;
      readonly fetch: Fetch;
      readonly bytesMax: () => number;
      readonly roomBytes: () => number;
    },
  ) {
    this.#context = context;
    this.#operationWriter = parts.operationWriter;
    this.#peers = parts.peers;
    this.#isActive = parts.isActive;
    this.#bytesMax = parts.bytesMax;
    this.#roomBytes = parts.roomBytes;
    this.placement = parts.placement;
    this.keeper = new CopiesKeeper(context, parts);
    if (!context.self.onDemand) return;
    context.facts.second.on(() => {
      this.#tellRoom();
      this.#reportFull();
    });
  }

  /**
   * Sets on at least how many members the contents of the files that match `pattern` are kept; `''` is for all that no pattern matches. null
   * removes the rule. Returns the operation by which the others learn it. Throws 'request-invalid' for a pattern that matches nothing, and for
   * more copies than there are members.
   */
  set(pattern: string, copies: CopiesNumber | null): Operation | undefined {
    const { journal, clock, self } = this.#context;
    const fault = pattern === '' ? undefined : patternFault(pattern);
    if (fault !== undefined) throw invalid(`${JSON.stringify(pattern)} is no pattern: ${fault}`);
    const members = journal.members.all();
    const count = members.filter(({ membership }) => membership === 'joined').length;
    if (typeof copies === 'number' && copies > count) {
      throw invalid(
        `${copies} copies cannot be kept on ${formatItems(count, 'member')}: add members first, or ask for fewer copies.`,
      );
    }
    if (copies === null && !this.placement.rules.active.some((rule) => rule.pattern === pattern)) {
      throw invalid(
        `There is no rule ${pattern === '' ? 'for all files' : `for ${pattern}`}: lockstep copies lists them.`,
      );
    }
    const elsewhere = new Set(
      members.flatMap((member) => (member.id === self.id ? [] : (member.copies?.map((rule) => rule.pattern) ?? []))),
    );
    // A rule that was removed is kept only while another member has an older one that it ends.
    const others = (ownRecord(this.#context)?.copies ?? []).filter(
      (rule) => rule.pattern !== pattern && (rule.copies !== null || elsewhere.has(rule.pattern)),
    );
    if (others.length >= copiesRulesMax) {
      throw invalid(`${copiesRulesMax} rules were set at this member already: set this one at another member.`);
    }
    // A person who sees a rule and sets another one means the later one, also if a clock is behind.
    const lastMs = Math.max(0, ...members.flatMap((member) => member.copies?.map(({ at }) => at) ?? []));
    const rule: CopiesRule = { pattern, copies, at: Math.max(clock.wallMs(), lastMs + 1) };
    const operation = writeOwnRecord(this.#context, this.#operationWriter, { copies: [...others, rule] });
    this.placement.refresh();
    return operation;
  }

  /** The largest number of members that a rule asks for; 0 if none asks for a number. */
  get mostWanted(): number {
    return Math.max(0, ...this.placement.rules.active.map(({ copies }) => (copies === 'all' ? 0 : copies)));
  }

  /** On how many members the content of the file at `path` is to be. */
  wantedOf(path: string): CopiesNumber {
    return this.placement.rules.copiesOf(path);
  }

  /** The copies that this member should keep and does not have; undefined if there are none. */
  lacking(): LackingCopies | undefined {
    return this.keeper.lacking();
  }

  stop(): void {
    this.keeper.stop();
  }

  #reportFull(): void {
    const { problems } = this.#context;
    const lacking = this.lacking();
    if (lacking?.isFull !== true) {
      problems.clear('copies-full');
      return;
    }
    const what = `${formatItems(lacking.files, 'copy', 'copies')} with ${formatBytes(lacking.bytes)}`;
    const remedy = this.#roomBytes() < this.#bytesMax() ? 'free some space on this disk' : 'raise cache_size';
    const detail =
      `There is no room here for ${what}. Nothing is lost: those files have fewer copies than wanted. ` +
      `Members that have room take them over. If this stays: ${remedy}, add a member, or ask for fewer copies (lockstep copies).`;
    problems.set('copies-full', {}, detail);
  }

  /** Tells the others how much room there is for copies here, when that has changed. */
  #tellRoom(): void {
    const nowMs = this.#context.clock.monotonicMs();
    const bytesMax = this.#bytesMax();
    const { load } = this.keeper;
    if (!this.#isActive() || !Number.isFinite(bytesMax) || load === undefined) return;
    if (this.#roomAtMs !== undefined && nowMs - this.#roomAtMs < roomEveryMs) return;
    const known = ownRecord(this.#context)?.room;
    const fellLately =
      this.#fell !== undefined && this.#fell.bytesMax >= bytesMax && nowMs - this.#fell.atMs < roomGrowsAfterMs;
    const areOthersFull = this.#areOthersFull();
    const room = nextRoom({
      room: known,
      bytesMax: Math.max(0, bytesMax - load.staying),
      roomBytes: Math.max(0, this.#roomBytes() - load.staying),
      placedBytes: load.placed,
      ...{ areOthersFull, fellLately },
    });
    if (room === known) return;
    this.#roomAtMs = nowMs;
    if (known !== undefined && room < known) this.#fell = { atMs: nowMs, bytesMax };
    writeIfRoom(() => writeOwnRecord(this.#context, this.#operationWriter, { room }));
    this.placement.refresh();
  }

  #areOthersFull(): boolean {
    return this.placement.candidates
      .filter(({ id }) => id !== this.#context.self.id)
      .every(({ id }) => this.#peers.get(id)?.said?.lackingCopies?.isFull === true);
  }
}

function invalid(message: string): LockstepError {
  return new LockstepError('request-invalid', message);
}
