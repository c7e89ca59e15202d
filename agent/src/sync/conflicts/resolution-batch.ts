import { entryType, isLive, type MemberId, type Operation } from '@lockstep/shared';
import { copyPrefix } from '../../core/conflict-name.ts';
import type { Draft } from '../../core/local-change.ts';
import { isSameContent } from '../../core/merge.ts';
import { copiesLike, isAnyWhole, isCopyOf } from '../integrity/copy-check.ts';
import type { Context } from '../state/context.ts';

const logRowsAtOnce = 64;
/** For a directory of which nothing but what is in it has come here: its own operation says better when it comes. */
const unknownDirectoryMode = 0o755;

/** A conflict copy, for people: of what `loser` wrote at `path`. */
export interface ConflictCopy {
  readonly path: string;
  readonly copy: string;
  readonly loser: MemberId;
}

/** A conflict copy that is to be made of `head`. */
export interface CopyToMake extends ConflictCopy {
  readonly head: Operation;
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
  /**
   * The heads that this member joins. Each content of theirs that is lost gets a copy, also where a head with equal content stays for
   * another member: a member that sees both joins later takes that head for one whose content has its copy.
   */
  readonly mine: readonly Operation[];
  /** Of the lost contents, those that have no copy yet. */
  readonly copies: readonly CopyToMake[];
}

/**
 * The drafts of what a resolver does at several paths, for one transaction: for each path the conflict copies, and after them the join
 * that ends the siblings.
 */
export class ResolutionBatch {
  readonly drafts: Draft[] = [];
  readonly copies: ConflictCopy[] = [];
  readonly #context: Context;
  readonly #paths = new Set<string>();
  /** Contents that have a copy in this batch, with the stem that they are copies of. */
  readonly #copied = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Adds what is to be done at one path. False, and nothing is added, when the batch has something at one of its paths already. */
  add({ path, heads, directoryWins, deleteHolds, mine, copies }: Verdict): boolean {
    const open = copies.filter(({ head, copy }) => !this.#copied.has(copyKey(copy, head)));
    const paths = [path, ...open.map(({ copy }) => copy)];
    if (paths.some((taken) => this.#paths.has(taken))) return false;
    for (const taken of paths) this.#paths.add(taken);
    for (const { head, loser, copy } of open) {
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
}

/**
 * Whether the losing content has a conflict copy already, perhaps under another stamp than that of `copy`, its name: an operation that
 * joined it once may lose in its turn, when members that were cut apart each joined what they knew. One under its very name that a user
 * has changed or deleted counts, for it was made of that very loser.
 */
export async function hasCopy(context: Context, head: Operation, copy: string): Promise<boolean> {
  if (context.journal.everHad(copy, head)) return true;
  const others = copiesLike(context, copy).filter(
    // A conflict copy may lose in its turn: it is no copy of itself. Nor is one that was moved to the path of the loser.
    (other) => other.path !== head.path && !(isLive(other) && other.path === head.from),
  );
  if (others.some((other) => !isLive(other) && isDoneWith(other, head))) return true;
  const alike = others.filter((other) => isCopyOf(other, head));
  return alike.length > 0 && (await isAnyWhole(context, alike));
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
