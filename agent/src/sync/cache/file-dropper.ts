import type { ContentId, MemberId, Operation } from '@lockstep/shared';
import { DropPauses } from '../../core/cache/drop-pauses.ts';
import { areEnoughHolders } from '../../core/cache/enough-holders.ts';
import type { GreedyDualSize } from '../../core/cache/greedy-dual-size.ts';
import { StuckFiles } from '../../core/cache/stuck-files.ts';
import { CopiesRules } from '../../core/copies/copies-rules.ts';
import { holds } from '../../core/durability.ts';
import { type DiskEntry, isSameRow, remoteEntry } from '../../core/entry.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { Signal } from '../scheduling/signal.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { type Candidate, findCandidates, mayDrop } from './drop-candidates.ts';

/** Asks the other members about contents. */
export interface KeeperSearch {
  /** The members that have these contents and will not drop them, by path. Adds to `except`, which are not asked, those that were silent. */
  searchKeepers(
    files: readonly { readonly content: ContentId; readonly path: string }[],
    except?: Set<MemberId>,
  ): Promise<ReadonlyMap<string, readonly MemberId[]>>;
}

/** The members that keep the content of a file for the cluster. */
export interface Keepers {
  /** On how many members a file must be. */
  readonly rules: Pick<CopiesRules, 'active' | 'general' | 'copiesOf'>;
  /** True for a member whose copies count. */
  counts(member: MemberId): boolean;
  /** True if `member`, which fetches on demand, keeps a copy of the file whose head is `operation`. */
  isPlacedOn(operation: Operation, member: MemberId): boolean;
}

/** Until those of the cluster are set. */
const noKeepers: Keepers = { rules: new CopiesRules([]), counts: () => false, isPlacedOn: () => false };

/** Drops files that other members have, after these were asked. */
export class FileDropper {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #search: KeeperSearch;
  readonly #policy: GreedyDualSize;
  /** Files that were dropped in this run of the agent. */
  files = 0;
  /** The file at the path was dropped. */
  readonly dropped = new Signal<string>();
  readonly #stuck = new StuckFiles();
  readonly #pauses = new DropPauses();
  #keepers = noKeepers;

  constructor(
    context: Context,
    parts: { readonly peers: Peers; readonly search: KeeperSearch; readonly policy: GreedyDualSize },
  ) {
    this.#context = context;
    this.#peers = parts.peers;
    this.#search = parts.search;
    this.#policy = parts.policy;
  }

  /** The rules for the number of members that must have a file when this one drops it. */
  get rules(): Keepers['rules'] {
    return this.#keepers.rules;
  }

  /** Sets the members that keep files for the cluster. */
  keptBy(keepers: Keepers): void {
    this.#keepers = keepers;
  }

  /**
   * The files that may be dropped now, the one with the least credit first, and the number of those that may be in a moment. `asksAll`: with
   * those that could not be dropped a moment ago.
   */
  candidates(asksAll: boolean): { readonly candidates: Candidate[]; readonly waiting: number } {
    const nowMs = this.#context.clock.monotonicMs();
    const found = findCandidates(this.#context, this.#policy, (path) => this.#stuck.has(path, nowMs));
    const candidates = found.candidates.filter(({ row }) => asksAll || !this.#pauses.has(row, nowMs));
    const areOthersUp = this.#peers.ready().length > 0;
    return {
      candidates,
      waiting: found.uncertain + (areOthersUp ? found.candidates.length - candidates.length : 0),
    };
  }

  /**
   * Drops those of these files that enough other members have, and that no program writes to: its later writes would go to a file without
   * a name, and be lost. Resolves with the number of the rest that may be dropped soon: it was in use, or a member is up that may have it.
   * `silent`: members that did not answer about earlier files of this attempt. These are not asked, and new ones are added.
   */
  async drop(batch: readonly Candidate[], silent: Set<MemberId>): Promise<number> {
    const { wanted, lock, folder, clock } = this.#context;
    // From now on this member tells the others that it lacks them: of two that drop the same file, at most one is told that the other has it.
    for (const { row } of batch) wanted.dropping.add(row.path);
    try {
      const sought = batch.map(({ row: { content, path } }) => ({ content, path }));
      const keepers = await this.#search.searchKeepers(sought, silent);
      const areEnough = (candidate: Candidate) => this.#isEnough(candidate, keepers.get(candidate.row.path) ?? []);
      const enough = batch.filter(areEnough);
      const inUse = new Set(enough.length > 0 ? await folder.inUse() : []);
      const idle = enough.filter(({ row }) => !inUse.has(row.path));
      const nowMs = clock.monotonicMs();
      for (const candidate of batch) {
        if (!idle.includes(candidate)) this.#pauses.failed(candidate.row, nowMs, clock.random());
      }
      // A member that was away may be back since, and no longer have what it had.
      if (idle.length > 0) await lock.run(() => this.#remove(idle.filter(areEnough).map(({ row }) => row)));
      const mayBeSoon = this.#peers.ready().length > 0 ? batch : enough;
      return mayBeSoon.length - idle.length;
    } finally {
      for (const { row } of batch) wanted.dropping.delete(row.path);
    }
  }

  #isEnough({ row, isOwn }: Candidate, holders: readonly MemberId[]): boolean {
    const head = this.#context.journal.heads.at(row.path)[0];
    const others = this.#peers.all().filter(({ state }) => state !== 'left');
    const members = others.map((peer) => {
      const { id } = peer;
      const hadIt = head !== undefined && this.#hadLast(peer, head);
      return { isOnDemand: this.#peers.isOnDemand(id), hasIt: holders.includes(id), hadIt };
    });
    return areEnoughHolders(members, { isOwn, copies: this.rules.copiesOf(row.path) });
  }

  /** True for a member that is away, still counts, keeps this version for the cluster, and had it by what it told last. */
  #hadLast(peer: Peer, head: Operation): boolean {
    const { id, applied, lastHoldings } = peer;
    if (peer.ready || !this.#keepers.counts(id)) return false;
    if (!this.#peers.isOnDemand(id)) return holds(applied, head);
    const content = head.content;
    return this.#keepers.isPlacedOn(head, id) && content !== undefined && lastHoldings?.mayHave(content) === true;
  }

  /** Removes files from the disk, under the folder lock. They are recorded as remote first: a kill in between must not look like a delete. */
  async #remove(rows: readonly (DiskEntry & { readonly content: ContentId })[]): Promise<void> {
    const { journal, folder, facts, clock } = this.#context;
    const present = rows.filter((row) => isSameRow(journal.disk.at(row.path), row) && mayDrop(this.#context, row));
    if (present.length === 0) return;
    journal.disk.record(present.map(({ path, dot }) => remoteEntry(path, dot)));
    const results = await applyActions(
      this.#context,
      present.flatMap(({ path, fingerprint, content }) =>
        fingerprint === undefined ? [] : [{ action: { do: 'unlink', path, expected: fingerprint, content } as const }],
      ),
    );
    for (const [index, { path, ...entry }] of present.entries()) {
      const result = results[index]?.result;
      if (result === 'done') {
        this.#policy.dropped(path);
        this.files++;
        this.dropped.publish(path);
        continue;
      }
      const [seen] = await folder.observe([{ path, expected: entry.fingerprint }]);
      // A user changed it at this moment: that is an edit of the version that was here.
      if (result === 'changed' || seen?.state === 'same') journal.disk.record([{ path, entry }]);
      // A call may fail when it has removed the file: that must not look like a user's delete.
      else if (seen?.state === 'problem') facts.actionUnclear.publish(path);
      facts.doubted.publish(path);
      if (result === 'problem') this.#stuck.add(path, clock.monotonicMs());
    }
  }
}
