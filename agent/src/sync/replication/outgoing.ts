import type { CarriedOperation, Operation, OriginId, VersionVector } from '@lockstep/shared';
import {
  inlineBytesMax,
  memberOf,
  operationFramesInFlightMax,
  operationsFrameBytesTarget,
  operationsPerFrameMax,
  originsMax,
  sendQueueBytesMax,
} from '@lockstep/shared';
import { countBeyond } from '../../core/version.ts';
import type { Link } from '../ports/network.ts';
import type { BlockSource } from '../ports/pieces.ts';
import type { Context } from '../state/context.ts';

const operationOverheadBytes = 200;
const readsAtOnce = 64;
/** Approximate size of each origin that a frame names, and of each entry of a version. */
const originBytes = 64;
const versionEntryBytes = 8;

/** Operations to send: a subscription or a pull of the peer. */
interface Stream {
  /** The next operations, at most `limit`; empty when there are none now. */
  next(limit: number): readonly Operation[];
  /** True when nothing more will come. */
  done(): boolean;
  finished(): void;
}

/** The services of a session for its peer. */
export interface OutgoingParts {
  /** True if the peer needs the bytes of the operation's content, if they are few. */
  readonly carries: (operation: Operation) => boolean;
  /** Called with the bytes of contents sent inline. */
  readonly sent: (bytes: number) => void;
  /** Called with the operations of each frame when it is sent. */
  readonly pushed: (operations: readonly Operation[]) => void;
}

/**
 * Sends operations to one peer: this member's own as they are made, and those that the peer pulls. The receiver confirms
 * frames, so that a slow peer delays no other one.
 */
export class Outgoing {
  readonly #context: Context;
  readonly #link: Link;
  readonly #parts: OutgoingParts;
  readonly #streams: Stream[] = [];
  readonly #unsent: { stream: Stream; operations: Operation[] }[] = [];
  readonly #inFlight = new Set<number>();
  #frameId = 0;
  #pumping = false;
  #wanted = false;
  #closed = false;

  constructor(context: Context, link: Link, parts: OutgoingParts) {
    this.#context = context;
    this.#parts = parts;
    this.#link = link;
  }

  close(): void {
    this.#closed = true;
    this.#streams.length = 0;
    this.#unsent.length = 0;
  }

  /**
   * Sends this member's own operations after `after`, now and as they are made. Operations of its earlier incarnations that the peer
   * lacks go first: a member's operations arrive in the order in which they were made.
   */
  subscribe(origin: OriginId, after: number, peerKnown: VersionVector): void {
    const { log } = this.#context.journal;
    this.#sendEarlier(origin, peerKnown);
    let cursor = after;
    this.#streams.push({
      next: (limit) => {
        const operations = log.operationsOf(origin, cursor, limit);
        cursor = operations.at(-1)?.seq ?? cursor;
        return operations;
      },
      done: () => false,
      finished: () => undefined,
    });
    this.poke();
  }

  #sendEarlier(origin: OriginId, peerKnown: VersionVector): void {
    const { journal, self } = this.#context;
    const known: Record<OriginId, number> = {};
    for (const of of Object.keys(journal.log.known()) as OriginId[]) {
      const isEarlier = of !== origin && memberOf(of) === self.id;
      known[of] = isEarlier ? (peerKnown[of] ?? 0) : Number.MAX_SAFE_INTEGER;
    }
    if (countBeyond(journal.log.known(), known) === 0) return;
    this.#streams.push({ ...this.#beyond(known), finished: () => undefined });
  }

  #beyond(known: VersionVector): Pick<Stream, 'next' | 'done'> {
    const batches = this.#context.journal.log.operationsBeyond(known, operationsPerFrameMax);
    let done = false;
    return {
      next: () => {
        const { value, done: ended } = batches.next();
        done = ended ?? false;
        return done ? [] : (value as readonly Operation[]);
      },
      done: () => done,
    };
  }

  /** Sends all operations beyond `known`, then a `pulled` with `done`. */
  pull(id: number, known: VersionVector): void {
    const { journal } = this.#context;
    const total = countBeyond(journal.log.known(), known);
    this.#link.send({ type: 'pulled', id, total, done: false });
    this.#streams.push({
      ...this.#beyond(known),
      finished: () => this.#link.send({ type: 'pulled', id, total, done: true }),
    });
    this.poke();
  }

  received(id: number): void {
    this.#inFlight.delete(id);
    this.poke();
  }

  /** Requests a run: there may be operations to send. */
  poke(): void {
    this.#wanted = true;
    if (this.#pumping || this.#closed) return;
    this.#pumping = true;
    this.#pump()
      .catch((error: unknown) => {
        this.#context.log.error({ peer: this.#link.peer, error: String(error) }, 'sending operations failed');
        this.#link.close('an error while sending operations', true);
      })
      .finally(() => {
        this.#pumping = false;
        if (this.#wanted) this.poke();
      });
  }

  async #pump(): Promise<void> {
    while (!this.#closed) {
      this.#wanted = false;
      if (this.#inFlight.size >= operationFramesInFlightMax) return;
      // Blocks that wait do not count: operations overtake them.
      if (this.#link.queuedBytes('operations') > sendQueueBytesMax) {
        this.#link.whenDrained('operations', () => this.poke());
        return;
      }
      const batch = this.#nextBatch();
      if (batch === undefined) return;
      const carried = await this.#attach(batch.operations);
      if (this.#closed) return;
      const id = ++this.#frameId;
      this.#inFlight.add(id);
      this.#link.send({ type: 'operations', id, carried });
      this.#parts.pushed(batch.operations);
    }
  }

  #nextBatch(): { operations: readonly Operation[] } | undefined {
    const open = this.#unsent[0];
    if (open !== undefined) return { operations: this.#takeFrame(open) };
    for (const stream of [...this.#streams]) {
      const operations = stream.next(operationsPerFrameMax).slice();
      if (operations.length > 0) {
        const unsent = { stream, operations };
        this.#unsent.push(unsent);
        return { operations: this.#takeFrame(unsent) };
      }
      if (stream.done()) {
        this.#streams.splice(this.#streams.indexOf(stream), 1);
        stream.finished();
      }
    }
    return undefined;
  }

  /** Takes as many operations as fit into one frame with their bytes; at least one. */
  #takeFrame(unsent: { operations: Operation[] }): readonly Operation[] {
    let bytes = 0;
    let count = 0;
    const origins = new Set<string>();
    for (const operation of unsent.operations) {
      const inline = this.#mayCarry(operation) ? (operation.size ?? 0) : 0;
      const { path, blocks, marks } = operation;
      bytes += operationOverheadBytes + path.length + (blocks?.length ?? 0) + (marks?.length ?? 0) + inline;
      bytes += versionBytes(operation, origins);
      // A version names no more origins than one frame may, so that a single operation always fits.
      if (count > 0 && (bytes > operationsFrameBytesTarget || origins.size > originsMax)) break;
      count++;
    }
    const operations = unsent.operations.splice(0, count);
    if (unsent.operations.length === 0) this.#unsent.shift();
    return operations;
  }

  async #attach(operations: readonly Operation[]): Promise<readonly CarriedOperation[]> {
    const carried: CarriedOperation[] = [];
    for (let start = 0; start < operations.length; start += readsAtOnce) {
      const some = operations.slice(start, start + readsAtOnce);
      const places = some.map((operation) => this.#inlineOf(operation));
      const files = places.filter((place): place is BlockSource => place !== undefined && 'source' in place);
      const read = files.length === 0 ? [] : await this.#context.folder.readBlocks(files);
      let next = 0;
      for (const [index, operation] of some.entries()) {
        const place = places[index];
        const bytes = place === undefined || place instanceof Uint8Array ? place : read[next++];
        carried.push(bytes === undefined ? { operation } : { operation, bytes });
        this.#parts.sent(bytes?.length ?? 0);
      }
    }
    return carried;
  }

  #mayCarry(operation: Operation): boolean {
    const { kind, size, from } = operation;
    if (kind !== 'put' || size === undefined || size > inlineBytesMax) return false;
    // The peer has a renamed file already, under its old name.
    return from === undefined && this.#parts.carries(operation);
  }

  /** The bytes to send inline, or where they are: those of a small file that the path still shows. */
  #inlineOf(operation: Operation): Uint8Array | BlockSource | undefined {
    const { content, size } = operation;
    if (content === undefined || size === undefined || !this.#mayCarry(operation)) return undefined;
    const { sentBytesCache, journal } = this.#context;
    const kept = sentBytesCache.get(content);
    if (kept !== undefined) return kept;
    const isHead = journal.heads
      .at(operation.path)
      .some((head) => head.seq === operation.seq && head.origin === operation.origin);
    const row = isHead ? journal.disk.at(operation.path) : undefined;
    if (row?.fingerprint === undefined || row.content !== content) return undefined;
    return { content, size, index: 0, source: { from: 'file', path: row.path, fingerprint: row.fingerprint } };
  }
}

/** Approximate bytes that the version of an operation adds to a frame that names `origins`. Adds its origins to `origins`. */
function versionBytes({ version: { vector, except = [] } }: Operation, origins: Set<string>): number {
  const before = origins.size;
  let entries = except.length;
  for (const origin in vector) {
    origins.add(origin);
    entries++;
  }
  return (origins.size - before) * originBytes + entries * versionEntryBytes;
}
