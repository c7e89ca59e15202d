import { entryType, isLive, type MemberId, type Operation } from '@lockstep/shared';
import { copyPrefix } from '../../core/conflict-name.ts';
import type { Draft } from '../../core/local-change.ts';
import { isSameContent, wasMadeAfter } from '../../core/merge.ts';
import { copiesLike, isAnyWhole, isCopyOf } from '../integrity/copy-check.ts';
import type { Context } from '../state/context.ts';

const logRowsAtOnce = 64;
/** Mode of a directory whose own operation has not arrived; only entries in it have. That operation corrects the mode later. */
const unknownDirectoryMode = 0o755;

/** A conflict copy, for people: of the version that `loser` wrote at `path`. */
export interface ConflictCopy {
  readonly path: string;
  readonly copy: string;
  readonly loser: MemberId;
}

/** A conflict copy that must be made of `head`. */
export interface CopyToMake extends ConflictCopy {
  readonly head: Operation;
}

/** The actions of the resolver at a contested path. */
export interface Verdict {
  readonly path: string;
  /** All heads, the visible one first. */
  readonly heads: readonly Operation[];
  /** There are live entries below the path: a directory takes the name, regardless of the heads. */
  readonly directoryWins: boolean;
  /** The visible head was resurrected and its siblings are deletes: the join must be a delete too. */
  readonly deleteHolds: boolean;
  /**
   * The heads that this member joins. Each content that loses gets a copy, also if a head with equal content is left to another
   * member: a member that sees both joins later assumes that the content of that head has its copy.
   */
  readonly mine: readonly Operation[];
  /** The copies to make: of those losing contents that have none yet. */
  readonly copies: readonly CopyToMake[];
}

/**
 * The drafts of the resolver for several paths, for one transaction: for each path the conflict copies, then the join that ends the
 * siblings.
 */
export class ResolutionBatch {
  readonly drafts: Draft[] = [];
  readonly copies: ConflictCopy[] = [];
  readonly #context: Context;
  readonly #paths = new Set<string>();
  /** Contents that have a copy in this batch, each with the name stem of the copy. */
  readonly #copied = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Adds the actions at one path. Adds nothing and returns false if the batch already has drafts at one of the paths. */
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
 * Whether the losing content already has a conflict copy, possibly with another stamp than that of `copy`, its name: the operation
 * of a join may lose in turn if partitioned members each joined the operations they knew. A copy under exactly this name counts even
 * if a user changed or deleted it, because it was made of this loser.
 */
export async function hasCopy(context: Context, head: Operation, copy: string): Promise<boolean> {
  if (context.journal.log.everHad(copy, head)) return true;
  const others = copiesLike(context, copy).filter(
    // A conflict copy may lose in turn: it is no copy of itself. Nor is one that was moved to the path of the loser.
    (other) => other.path !== head.path && !(isLive(other) && other.path === head.from),
  );
  if (others.some((other) => !isLive(other) && isDoneWith(other, head))) return true;
  const alike = others.filter((other) => isCopyOf(other, head));
  return alike.length > 0 && (await isAnyWhole(context, alike));
}

/** Whether a deleted copy shows that its user no longer needs the content. Not so if the user renamed the copy or wrote it again. */
function isDoneWith(deleted: Operation, head: Operation): boolean {
  if (head.content === undefined || deleted.replaced !== head.content || !wasMadeAfter(deleted, head)) return false;
  return deleted.origin !== head.origin || deleted.group === undefined || deleted.group !== (head.group ?? head.seq);
}

function copyKey(copy: string, { content, target }: Operation): string {
  return `${copyPrefix(copy)}\0${content ?? target}`;
}

/** The draft of the copy of a losing entry. */
function copyDraft({ content, size, mode, mtimeUs, target, blocks }: Operation, path: string): Draft {
  const kind = target === undefined ? 'put' : 'symlink';
  return { path, kind, content, size, mode, mtimeUs, target, blocks, parents: [] };
}

/** The draft of a join: it repeats the visible entry and supersedes all siblings. */
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

/** The draft that resurrects the directory at `path`, with the last mode that the log has for it. */
export function directoryDraft({ journal }: Context, path: string, parents: readonly Operation[]): Draft {
  let beforeRow: number | undefined = Number.MAX_SAFE_INTEGER;
  while (beforeRow !== undefined) {
    const rows = journal.log.rows({ path, beforeRow, limit: logRowsAtOnce });
    const before = rows.find(({ operation }) => entryType(operation) === 'directory');
    if (before !== undefined) return { path, kind: 'mkdir', mode: before.operation.mode, parents };
    beforeRow = rows.length < logRowsAtOnce ? undefined : rows.at(-1)?.row;
  }
  return { path, kind: 'mkdir', mode: unknownDirectoryMode, parents };
}
