import type { ContentId, MissingMessage, Operation, WantMessage } from '@lockstep/shared';
import { hasOneBlock, inlineBytesMax, sendQueueBytesMax } from '@lockstep/shared';
import { showsSomething } from '../../core/entry.ts';
import type { SentFile } from '../measurements/departures.ts';
import type { ContentSource } from '../ports/folder.ts';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import { fileSource, filesWith, hiddenPaths, isShown } from './local-content.ts';

const readsAtOnce = 2;

/** A content and its source. */
interface Found {
  readonly content: ContentId;
  readonly source: ContentSource;
  readonly operation: Operation;
}

/** The connections of a server to the other loops. */
export interface ServerParts {
  /** Called with the number of bytes of each block sent. */
  sent(file: SentFile, bytes: number): void;
  /** Called with 1 when a block begins to wait for a limit, and with -1 when it has waited. */
  limited(change: 1 | -1): void;
  /** True if some of the content is staged, for a fetch that goes on or may. */
  isStaged(content: ContentId): boolean;
}

/**
 * Answers one peer's requests for blocks from this member's folder, history and staging, at the speed of the peer. Those for small contents do not
 * wait until the blocks before them are sent.
 */
export class ContentServer {
  readonly #context: Context;
  readonly #link: Link;
  readonly #parts: ServerParts;
  #queue: WantMessage[] = [];
  /** The ids of the requests whose block is read, or waits for a limit, and of those of them that were withdrawn. */
  readonly #answering = new Set<number>();
  readonly #withdrawn = new Set<number>();
  #reading = 0;
  /** It is waited until fewer blocks are queued. */
  #isDraining = false;
  #closed = false;
  /** The source of the content that was last requested: the next request is most likely for the same content. */
  #last: Found | undefined;

  constructor(context: Context, link: Link, parts: ServerParts) {
    this.#context = context;
    this.#parts = parts;
    this.#link = link;
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
  }

  /** Answers these requests at once, unless their blocks have begun to leave. */
  withdraw(ids: readonly number[]): void {
    const all = new Set(ids);
    const unread = this.#queue.filter(({ id }) => all.has(id));
    this.#queue = this.#queue.filter(({ id }) => !all.has(id));
    for (const id of ids) if (this.#answering.has(id)) this.#withdrawn.add(id);
    for (const id of [...unread.map((want) => want.id), ...this.#link.withdraw(all)]) this.#answerWithdrawn(id);
    this.#pump();
  }

  #answerWithdrawn(id: number): void {
    this.#link.send({ type: 'missing', id, lacks: false, shows: true });
  }

  want(message: WantMessage): void {
    if (message.probe === true) {
      this.#answerProbe(message).catch((error: unknown) => {
        this.#context.log.warn({ content: message.content, error: String(error) }, 'a content could not be searched');
      });
      return;
    }
    this.#queue.push(message);
    this.#pump();
  }

  #pump(): void {
    while (this.#reading < readsAtOnce && this.#queue.length > 0 && !this.#closed) {
      const isFull = this.#link.queuedBytes('blocks') > sendQueueBytesMax;
      const next = isFull ? this.#queue.findIndex(({ content }) => hasOneBlock(content)) : 0;
      if (isFull) this.#awaitDrain();
      const [want] = next < 0 ? [] : this.#queue.splice(next, 1);
      if (want === undefined) return;
      this.#reading++;
      this.#answering.add(want.id);
      this.#answer(want)
        .catch((error: unknown) => {
          this.#context.log.warn({ content: want.content, error: String(error) }, 'a block could not be read');
          this.#link.send({ type: 'missing', id: want.id, lacks: false, shows: true });
        })
        .finally(() => {
          this.#reading--;
          this.#answering.delete(want.id);
          this.#withdrawn.delete(want.id);
          this.#pump();
        });
    }
  }

  #awaitDrain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#link.whenDrained('blocks', () => {
      this.#isDraining = false;
      this.#pump();
    });
  }

  async #answerProbe({ id, content, path, keep }: WantMessage): Promise<void> {
    const has = keep ? await this.#keeps(content, path) : (await this.#find(content, path)) !== undefined;
    if (this.#closed) return;
    this.#link.send({ type: 'missing', id, lacks: !has, ...this.#shownAt(path) });
  }

  #shownAt(path: string): Pick<MissingMessage, 'shows' | 'named'> {
    const row = this.#context.journal.disk.at(path);
    return { shows: showsSomething(row), ...(row?.remote && { named: true }) };
  }

  /** True if the disk durably shows the content at the path, as the journal says it should, and this member does not drop it now. */
  async #keeps(content: ContentId, path: string): Promise<boolean> {
    const { journal, folder, problems, wanted } = this.#context;
    const row = journal.disk.at(path);
    // No other event may cause an examination, and the member that asks would keep its own copy for that long.
    if (row?.content === content && row.racy) this.#context.facts.doubted.publish(path);
    if (row?.content !== content || row.damaged || row.racy || row.unsynced || row.unconfirmed) return false;
    if (!journal.heads.at(path).some((head) => head.content === content)) return false;
    if (!isShown(row, hiddenPaths(problems))) return false;
    // Its user may have deleted it a moment ago.
    const [seen] = await folder.observe([{ path, expected: row.fingerprint }]);
    return seen?.state === 'same' && !wanted.dropping.has(path);
  }

  async #answer(want: WantMessage): Promise<void> {
    const { found, bytes } = await this.#read(want);
    // Parts of blocks count as well.
    if (bytes !== undefined && !this.#withdrawn.has(want.id) && (found?.operation.size ?? 0) > inlineBytesMax) {
      this.#parts.limited(1);
      const isOver = (): boolean => this.#closed || this.#withdrawn.has(want.id);
      await this.#context.limits.send.take(bytes.length, this.#link.peer, isOver);
      this.#parts.limited(-1);
    }
    if (this.#closed) return;
    if (this.#withdrawn.has(want.id)) this.#answerWithdrawn(want.id);
    else if (bytes === undefined) {
      if (found?.source.from === 'file') this.#context.facts.suspected.publish(found.source.path);
      this.#last = undefined;
      this.#link.send({ type: 'missing', id: want.id, lacks: found === undefined, ...this.#shownAt(want.path) });
    } else {
      this.#parts.sent({ content: want.content, path: want.path, size: found?.operation.size ?? 0 }, bytes.length);
      this.#link.send({ type: 'block', id: want.id, bytes });
    }
  }

  /** Reads the block. Without bytes, `found` is the place that should have had it; undefined if this member lacks the content. */
  async #read(want: WantMessage): Promise<{ readonly found?: Found; readonly bytes?: Uint8Array }> {
    const { content, path } = want;
    const last = this.#last?.content === content ? this.#last : undefined;
    if (last !== undefined) {
      const block = await this.#readAt(last, want);
      if (block.bytes !== undefined) return { found: last, ...block };
    }
    // Its file may have been renamed since the last block.
    const found = await this.#find(content, path);
    this.#last = found;
    if (found !== undefined) return { found, ...(await this.#readAt(found, want)) };
    const operation = this.#parts.isStaged(content) ? this.#operationWith(path, content) : undefined;
    if (operation === undefined) return {};
    const staged: Found = { content, source: { from: 'staged' }, operation };
    const block = await this.#readAt(staged, want);
    if (block.bytes !== undefined) return { found: staged, ...block };
    // The staged file may have got its name in the folder meanwhile.
    const placed = await this.#find(content, path);
    return placed === undefined ? {} : { found: placed, ...(await this.#readAt(placed, want)) };
  }

  /** Reads what is wanted of a block: the whole, ranges of it, or its recipe. */
  async #readAt(
    { content, source, operation }: Found,
    { index, recipe, ranges }: WantMessage,
  ): Promise<{ readonly bytes?: Uint8Array }> {
    const { folder } = this.#context;
    const { blocks, size = 0 } = operation;
    const block = { content, blocks, size, index, source };
    const bytes = await (recipe === true ? folder.pieces.recipe(block) : folder.readBlock(block));
    if (bytes === undefined) return {};
    return { bytes: ranges === undefined ? bytes : rangesIn(bytes, ranges) };
  }

  /** Finds the content in the folder or in the history. */
  async #find(content: ContentId, path: string): Promise<Found | undefined> {
    const { journal, folder } = this.#context;
    for (const file of filesWith(this.#context, content)) {
      const operation = journal.log.operation(file.dot);
      if (operation?.content === content) return { content, source: fileSource(file), operation };
    }
    const operation = this.#operationWith(path, content);
    if (operation === undefined || !(await folder.inHistory([content])).has(content)) return undefined;
    return { content, source: { from: 'history' }, operation };
  }

  /** An old version is no head: the member that asks for it names a path that had it. */
  #operationWith(path: string, content: ContentId): Operation | undefined {
    const { journal } = this.#context;
    return journal.heads.withContent(content) ?? journal.log.operationWith(path, content);
  }
}

/** Joins ranges of a block. Throws a RangeError if one is not in it. */
function rangesIn(block: Uint8Array, ranges: NonNullable<WantMessage['ranges']>): Uint8Array {
  const bytes = new Uint8Array(ranges.reduce((sum, [, length]) => sum + length, 0));
  let at = 0;
  for (const [offset, length] of ranges) {
    if (offset + length > block.length)
      throw new RangeError(`a block of ${block.length} bytes has no range to ${offset + length}`);
    bytes.set(block.subarray(offset, offset + length), at);
    at += length;
  }
  return bytes;
}
