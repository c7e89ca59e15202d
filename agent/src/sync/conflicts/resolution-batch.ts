import { entryType, isLive, type MemberId, memberOf, type Operation, parentOf } from '@lockstep/shared';
import { conflictPath, copyPrefix, isConflictPath } from '../../core/conflict-name.ts';
import type { Draft } from '../../core/local-change.ts';
import { isSameContent } from '../../core/merge.ts';
import type { Context } from '../state/context.ts';

const copiesLookedAtMax = 64;
const logRowsAtOnce = 64;
/** For a directory of which nothing but what is in it has come here: its own operation says better when it comes. */
const unknownDirectoryMode = 0o755;

/** A conflict copy that was made, for people. */
export interface ConflictCopy {
  readonly path: string;
  readonly copy: string;
  readonly loser: MemberId;
}

/** What a resolver has to do at a contested path. */
export interface Verdict {
  readonly path: string;
  /** All heads, the visible one first. */
  readonly heads: readonly Operation[];
  /** Something live lies below: a directory takes the name whatever the heads say. */
  readonly directoryWins: boolean;
  /** The visible head was resurrected, and its siblings are deletes: the next join is one too. */
  readonly deleteHolds: boolean;
  /** The operation with which a user made what a head shows: the copy is named by that one. */
  readonly originalOf: (head: Operation) => Operation;
  /** The heads whose content would be lost. */
  readonly lost: readonly Operation[];
  /**
   * The heads that this member joins. Each content of theirs that is lost gets a copy, also where a head with equal content stays for
   * another member: a member that sees both joins later takes that head for one whose content has its copy.
   */
  readonly mine: readonly Operation[];
}

/**
 * The drafts of what a resolver does at several paths, for one transaction: for each path the conflict copies, and after them the join
 * that ends the siblings.
 */
export class ResolutionBatch {
  readonly drafts: Draft[] = [];
  readonly copies: ConflictCopy[] = [];
  readonly #context: Context;
  readonly #nameOf: (member: MemberId) => string;
  readonly #paths = new Set<string>();
  /** Contents that have a copy in this batch, with the stem that they are copies of. */
  readonly #copied = new Set<string>();

  constructor(context: Context, nameOf: (member: MemberId) => string) {
    this.#context = context;
    this.#nameOf = nameOf;
  }

  /** Adds what is to be done at one path. False, and nothing is added, when the batch has something at one of its paths already. */
  add({ path, heads, directoryWins, deleteHolds, originalOf, lost, mine }: Verdict): boolean {
    const losers = lost
      .filter((head) => mine.some((joined) => isSameContent(joined, head)))
      .map((head) => {
        const { hlc, origin } = originalOf(head);
        const loser = memberOf(origin);
        return { head, loser, copy: conflictPath(path, hlc, this.#nameOf(loser)) };
      })
      .filter(({ head, copy }) => !this.#hasCopy(head, copy));
    const paths = [path, ...losers.map(({ copy }) => copy)];
    if (paths.some((taken) => this.#paths.has(taken))) return false;
    for (const taken of paths) this.#paths.add(taken);
    for (const { head, loser, copy } of losers) {
      this.#copied.add(copyKey(copy, head));
      this.drafts.push({ ...copyDraft(head, copy), unit: path });
      this.copies.push({ path, copy, loser });
    }
    const [visible] = heads;
    this.drafts.push({ ...this.#joinOf(path, visible, { directoryWins, deleteHolds, mine }), unit: path });
    return true;
  }

  #joinOf(
    path: string,
    visible: Operation | undefined,
    { directoryWins, deleteHolds, mine }: Pick<Verdict, 'directoryWins' | 'deleteHolds' | 'mine'>,
  ): Draft {
    if (directoryWins || visible === undefined) return directoryDraft(this.#context, path, mine);
    if (deleteHolds) return { path, kind: 'delete', parents: [visible, ...mine] };
    return joinDraft(visible, [visible, ...mine]);
  }

  /**
   * Whether the losing content has a conflict copy of the same path already, perhaps under another stamp: an operation that joined it
   * once may lose in its turn, when members that were cut apart each joined what they knew. A copy that a user has deleted counts.
   */
  #hasCopy(head: Operation, copy: string): boolean {
    const { journal } = this.#context;
    if (this.#copied.has(copyKey(copy, head))) return true;
    if (head.content !== undefined && journal.everHad(copy, head.content)) return true;
    const prefix = copyPrefix(copy);
    for (const other of journal.headsUnder(parentOf(copy), prefix, copiesLookedAtMax)) {
      if (!other.path.startsWith(prefix)) return false;
      // A conflict copy may lose in its turn: it is no copy of itself. One that was moved to another name has other content by now, which may
      // not be journaled yet.
      if (other.path === head.path || (isLive(other) && other.path === head.from)) continue;
      const same = head.content === undefined ? other.target === head.target : other.content === head.content;
      if (isConflictPath(other.path) && (isLive(other) ? same : isDoneWith(other, head))) return true;
    }
    return false;
  }
}

/** Whether a user who deleted a copy was done with the content that loses now: not who gave the copy another name, or wrote it again. */
function isDoneWith(deleted: Operation, head: Operation): boolean {
  if (head.content === undefined || deleted.replaced !== head.content || head.hlc >= deleted.hlc) return false;
  return deleted.origin !== head.origin || deleted.group === undefined || deleted.group !== (head.group ?? head.seq);
}

function copyKey(copy: string, { content, target }: Operation): string {
  return `${copyPrefix(copy)}\0${content ?? target}`;
}

/** The copy of a losing entry. */
function copyDraft({ content, size, mode, mtimeUs, target, blocks }: Operation, path: string): Draft {
  const kind = target === undefined ? 'put' : 'symlink';
  return { path, kind, content, size, mode, mtimeUs, target, blocks, parents: [] };
}

/** An operation that leaves the visible entry as it is and includes what its siblings include. */
function joinDraft(visible: Operation, parents: readonly Operation[]): Draft {
  const { path, content, size, mode, mtimeUs, target, blocks, member } = visible;
  const type = entryType(visible);
  if (type === 'absent') return { path, kind: 'delete', parents };
  const keeps = parents.filter((parent) => isSameContent(parent, visible));
  if (type === 'directory') return { path, kind: 'mkdir', mode, parents, keeps };
  if (type === 'symlink') return { path, kind: 'symlink', target, mtimeUs, parents, keeps };
  if (type === 'member') return { path, kind: 'member', member, parents, keeps };
  return { path, kind: 'put', content, size, mode, mtimeUs, blocks, parents, keeps };
}

/** The directory at `path` anew, with the mode that it had last, however long ago that was. */
export function directoryDraft({ journal }: Context, path: string, parents: readonly Operation[]): Draft {
  let beforeRow: number | undefined = Number.MAX_SAFE_INTEGER;
  while (beforeRow !== undefined) {
    const rows = journal.log({ path, beforeRow, limit: logRowsAtOnce });
    const before = rows.find(({ operation }) => entryType(operation) === 'directory');
    if (before !== undefined) return { path, kind: 'mkdir', mode: before.operation.mode, parents };
    beforeRow = rows.length < logRowsAtOnce ? undefined : rows.at(-1)?.row;
  }
  return { path, kind: 'mkdir', mode: unknownDirectoryMode, parents };
}
