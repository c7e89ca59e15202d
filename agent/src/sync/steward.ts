import { type ContentId, entryType, isLive, type MemberId, memberOf, type Operation, parentOf } from '@lockstep/shared';
import { conflictPath, isConflictPath } from '../core/conflict-name.ts';
import type { Draft } from '../core/local-change.ts';
import { oldestActive } from '../core/membership.ts';
import { inOrder, losers } from '../core/merge.ts';
import type { Context } from './context.ts';
import type { OwnLog } from './own-log.ts';
import type { Peers } from './peers.ts';
import type { ContentSource } from './ports/folder.ts';
import type { Transfers } from './transfers.ts';

const pathsAtOnce = 256;
/** What follows the stem in the name of a conflict copy. */
const copySuffix = '.conflict-';
const copiesLookedAtMax = 64;
/** The fallback steward steps in after the others had this long to be back. */
const fallbackRetryMs = 2_000;

/** A conflict copy that was made, for people. */
export interface ConflictCopy {
  readonly path: string;
  readonly copy: string;
  readonly loser: MemberId;
}

/**
 * Settles what concurrent operations left behind (DESIGN 4): gives the losing content a name of its own, joins siblings, and
 * journals directories anew that something live holds up. One member does it for each operation: its origin, or the oldest
 * active member when the origin is away. Name and content are the same whoever does it.
 */
export class Steward {
  readonly #context: Context;
  readonly #ownLog: OwnLog;
  readonly #peers: Peers;
  readonly #transfers: Transfers;
  readonly #selfSeniority: () => {
    readonly id: MemberId;
    readonly state: 'active' | 'syncing';
    readonly enabledAt?: number | undefined;
  };
  readonly #copied: (copy: ConflictCopy) => void;
  #running = false;
  #wanted = false;
  #stopped = false;
  #retryArmed = false;

  constructor(
    context: Context,
    ownLog: OwnLog,
    peers: Peers,
    transfers: Transfers,
    selfSeniority: () => {
      readonly id: MemberId;
      readonly state: 'active' | 'syncing';
      readonly enabledAt?: number | undefined;
    },
    copied: (copy: ConflictCopy) => void,
  ) {
    this.#context = context;
    this.#ownLog = ownLog;
    this.#peers = peers;
    this.#transfers = transfers;
    this.#selfSeniority = selfSeniority;
    this.#copied = copied;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** There may be siblings to join or directories to hold up. */
  poke(): void {
    this.#wanted = true;
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#run()
      .catch((error: unknown) => this.#context.log.error({ error: String(error) }, 'settling conflicts failed'))
      .finally(() => {
        this.#running = false;
        if (this.#wanted) this.poke();
      });
  }

  async #run(): Promise<void> {
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      const open = (await this.#settleAll()) + (await this.#holdUp());
      if (open > 0) this.#retryLater();
    }
  }

  /** Returns how many paths are left to others, or for later. */
  async #settleAll(): Promise<number> {
    const { journal } = this.#context;
    if (journal.counts().contested === 0) return 0;
    let left = 0;
    let after: string | undefined;
    for (;;) {
      const contested = journal.contested(after, pathsAtOnce);
      for (const { path } of contested) left += (await this.#settle(path)) ? 0 : 1;
      after = contested.at(-1)?.path;
      if (contested.length < pathsAtOnce || this.#stopped) return left;
    }
  }

  /** Joins what this member is responsible for at `path`. False when something is left for others, or for later. */
  async #settle(path: string): Promise<boolean> {
    const { journal } = this.#context;
    const heldUp = journal.hasLiveBelow(path);
    const heads = inOrder(journal.heads(path));
    const [visible] = heads;
    if (visible === undefined) return true;
    const lost = losers(heads, heldUp);
    const directoryWins = heldUp && entryType(visible) !== 'directory';
    const candidates = directoryWins ? heads : heads.slice(1);
    if (candidates.length === 0) return true;
    // The join puts the visible content anew, and may outlive every other operation that speaks of it.
    if (!directoryWins && !(await this.#keep(visible))) {
      this.#obtain(visible);
      return false;
    }
    const mine: Operation[] = [];
    for (const head of candidates) {
      const isLost = lost.includes(head);
      if (isLost && !(await this.#keep(head))) {
        this.#obtain(head);
        continue;
      }
      if (this.#isResponsible(head)) mine.push(head);
    }
    if (mine.length === 0) return false;
    // The look at the disk above took time: what is decided now must be about the heads as they are now.
    const now = journal.heads(path);
    if (now.length !== heads.length || !heads.every((head) => now.some((other) => sameDot(other, head)))) {
      this.#wanted = true;
      return true;
    }
    const copies = mine.filter((head) => lost.includes(head)).flatMap((head) => this.#copyOf(head));
    const join = directoryWins ? directoryDraft(this.#context, path, mine) : joinDraft(visible, [visible, ...mine]);
    this.#ownLog.commit([...copies, join]);
    for (const { path: copy, mtimeUs: _, ...draft } of copies) {
      const loser = draft.origin ?? this.#context.self.id;
      this.#copied({ path, copy, loser });
    }
    return mine.length === candidates.length;
  }

  /** Live entries whose parent is not a directory: their parents are journaled anew. Returns how many are left to others. */
  async #holdUp(): Promise<number> {
    const { journal } = this.#context;
    let left = 0;
    const done = new Set<string>();
    for (const orphan of journal.orphans(undefined, pathsAtOnce)) {
      const parent = parentOf(orphan.path);
      if (parent === '' || done.has(parent)) continue;
      done.add(parent);
      const heads = journal.heads(parent);
      const blocking = heads[0];
      if (blocking !== undefined && isLive(blocking) && entryType(blocking) !== 'directory') {
        left += (await this.#settle(parent)) ? 0 : 1;
      } else if (this.#isResponsible(orphan)) {
        this.#ownLog.commit([directoryDraft(this.#context, parent, heads)]);
        this.#wanted = true;
      } else left++;
    }
    return left;
  }

  #isResponsible(operation: Operation): boolean {
    const { self } = this.#context;
    const origin = memberOf(operation.origin);
    if (origin === self.id) return true;
    const peer = this.#peers.get(origin);
    if (peer?.ready && peer.state !== 'suspect' && peer.state !== 'down') {
      // An operation of a journal that its member has lost is nobody's own any more.
      if (peer.origin === operation.origin) return false;
    }
    const present = this.#peers.ready().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
    return oldestActive([this.#selfSeniority(), ...present])?.id === self.id;
  }

  /** The copy of a losing entry, unless it was made before. */
  #copyOf(head: Operation): readonly (Draft & { origin?: MemberId })[] {
    const { journal } = this.#context;
    const loser = memberOf(head.origin);
    const path = conflictPath(head.path, head.hlc, this.#peers.nameOf(loser));
    if (head.content !== undefined && journal.everHad(path, head.content)) return [];
    if (this.#hasCopyOf(head, path)) return [];
    const { content, size, mode, mtimeUs, target, blocks } = head;
    const kind = target === undefined ? 'put' : 'symlink';
    return [{ path, kind, content, size, mode, mtimeUs, target, blocks, parents: [], origin: loser }];
  }

  /**
   * Whether the same content has a conflict copy of the same path already, under another stamp: an operation that joined it once
   * may lose in its turn, when members that were cut apart each joined what they knew. A copy that a user has deleted counts.
   */
  #hasCopyOf(head: Operation, copy: string): boolean {
    const { journal } = this.#context;
    const prefix = copy.slice(0, copy.lastIndexOf(copySuffix) + copySuffix.length);
    for (const other of journal.headsUnder(parentOf(copy), prefix, copiesLookedAtMax)) {
      if (!other.path.startsWith(prefix)) return false;
      // A conflict copy may lose in its turn: it is no copy of itself.
      if (other.path === head.path) continue;
      const same = head.content === undefined ? other.target === head.target : other.content === head.content;
      if (
        isConflictPath(other.path) &&
        (isLive(other) ? same : head.content !== undefined && other.replaced === head.content)
      )
        return true;
    }
    return false;
  }

  /**
   * Every member keeps the losing content until the copy is made, so that any of them can make it; and nobody makes a copy of what
   * they do not hold. What `disk` says may be out of date: a user may have overwritten it this moment. False when it is not here.
   */
  async #keep(head: Operation): Promise<boolean> {
    const { content, blocks, size = 0 } = head;
    if (content === undefined) return true;
    const { folder, inbox, log } = this.#context;
    if ((await folder.inHistory([content])).has(content)) return true;
    for (const source of this.#sources(content)) {
      try {
        if (!(await folder.keep({ content, blocks, size, source }))) continue;
      } catch (error) {
        log.warn({ path: head.path, error: String(error) }, 'a losing version could not be kept');
        continue;
      }
      if (source.from === 'bytes') inbox.delete(content);
      if (source.from === 'staged') this.#transfers.drop(content);
      return true;
    }
    return false;
  }

  #sources(content: ContentId): readonly ContentSource[] {
    const { journal, inbox } = this.#context;
    const sources: ContentSource[] = [];
    const bytes = inbox.get(content);
    if (bytes) sources.push({ from: 'bytes', bytes });
    if (this.#transfers.isStaged(content)) sources.push({ from: 'staged' });
    for (const { path, fingerprint } of journal.diskWithContent(content, 4)) {
      if (fingerprint) sources.push({ from: 'file', path, fingerprint });
    }
    return sources;
  }

  #obtain(head: Operation): void {
    this.#transfers.fetch(head, (outcome) => {
      if (outcome === 'ok') this.poke();
    });
  }

  #retryLater(): void {
    if (this.#retryArmed || this.#stopped) return;
    this.#retryArmed = true;
    this.#context.clock.after(fallbackRetryMs, () => {
      this.#retryArmed = false;
      this.poke();
    });
  }
}

function sameDot(a: Operation, b: Operation): boolean {
  return a.seq === b.seq && a.origin === b.origin;
}

/** An operation that leaves the visible entry as it is and includes what its siblings include. */
function joinDraft(visible: Operation, parents: readonly Operation[]): Draft {
  const { path, content, size, mode, mtimeUs, target, blocks, member } = visible;
  const type = entryType(visible);
  if (type === 'absent') return { path, kind: 'delete', parents };
  if (type === 'directory') return { path, kind: 'mkdir', mode, parents };
  if (type === 'symlink') return { path, kind: 'symlink', target, mtimeUs, parents };
  if (type === 'member') return { path, kind: 'member', member, parents };
  return { path, kind: 'put', content, size, mode, mtimeUs, blocks, parents };
}

/** The directory at `path` anew, with the mode that it had last. */
function directoryDraft(context: Context, path: string, parents: readonly Operation[]): Draft {
  const before = context.journal
    .log({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: 20 })
    .find(({ operation }) => entryType(operation) === 'directory');
  return { path, kind: 'mkdir', mode: before?.operation.mode ?? 0o755, parents };
}
