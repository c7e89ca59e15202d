import { entryType, type MemberId, memberOf, type Operation, type OriginId, originId } from '@lockstep/shared';
import { covers } from '../../core/version.ts';
import type { JournalDatabase } from '../database.ts';
import type { DiskStore } from '../disk.ts';
import { base32, incarnationLength } from '../settings.ts';
import type { Statement } from '../statement.ts';
import type { Verifier } from '../verify.ts';
import type { OperationLog } from './operation-log.ts';
import type { OriginTable } from './origin-table.ts';

interface Parts {
  readonly self: MemberId;
  readonly origins: OriginTable;
  readonly log: OperationLog;
  readonly disk: DiskStore;
  readonly verifier: Verifier;
}

/**
 * Cuts operations off an origin whose log forked. Their rows stay in the log under the name of a branch, which does not count. The heads
 * and the known numbers follow from the rest of the log.
 */
export class BranchCutter {
  readonly #database: JournalDatabase;
  readonly #parts: Parts;
  readonly #headsAbove: Statement<{ seq: number }>;
  readonly #renameOperations: Statement;
  readonly #renameShown: Statement;
  readonly #paths: Statement<{ path: string }>;
  readonly #seqs: Statement<{ seq: number }>;

  constructor(database: JournalDatabase, parts: Parts) {
    this.#database = database;
    this.#parts = parts;
    this.#headsAbove = database.statement('SELECT seq FROM heads WHERE origin = ? AND seq > ?');
    // A version that was omitted, because it names only its own origin, names the old one from now on.
    this.#renameOperations = database.statement(
      `UPDATE ops SET version = coalesce(version, '[[[' || origin || ',' || seq || ']]]'), origin = ?
       WHERE origin = ? AND seq > ?`,
    );
    this.#renameShown = database.statement('UPDATE disk SET origin = ? WHERE origin = ? AND seq > ?');
    this.#paths = database.statement('SELECT DISTINCT path FROM ops WHERE origin = ?');
    this.#seqs = database.statement('SELECT seq FROM ops WHERE origin = ? ORDER BY seq');
  }

  /**
   * Cuts off the operations of `origin` above `last`, within a transaction. Returns, under their new name, the operations that this would
   * lose. These are heads, and contents that another operation covers but did not replace, because it was made on another branch.
   */
  cut(origin: OriginId, last: number): readonly Operation[] {
    const { origins, log, disk, verifier } = this.#parts;
    const number = origins.find(origin);
    const link = log.link(origin, last + 1);
    if (number === undefined || link === undefined || log.knownOf(origin) <= last) return [];
    const heads = new Set(this.#headsAbove.all(number, last).map(({ seq }) => seq));
    const name = originId(memberOf(origin), incarnationOf(link));
    const branch = origins.branch(name, number);
    this.#renameOperations.run(branch, number, last);
    this.#renameShown.run(branch, number, last);
    log.forget();
    disk.forget();
    this.#database.revision += 1;
    verifier.replay(this.#paths.all(branch).map(({ path }) => path));
    return this.#seqs
      .all(branch)
      .map(({ seq }) => log.operation({ origin: name, seq }))
      .filter((operation) => operation !== undefined)
      .filter((operation) => heads.has(operation.seq) || this.#isHidden(operation, origin));
  }

  /** True when a file's content, or a link, is covered only by operations that did not replace it, as far as is known. */
  #isHidden(operation: Operation, origin: OriginId): boolean {
    const type = entryType(operation);
    if (type !== 'file' && type !== 'symlink') return false;
    const dot = { origin, seq: operation.seq };
    const covering = this.#parts.log
      .rows({ path: operation.path, limit: Number.MAX_SAFE_INTEGER })
      .map((row) => row.operation)
      .filter((other) => !(other.origin === operation.origin && other.seq === operation.seq))
      .filter((other) => covers(other.version, dot));
    if (covering.some((other) => other.origin === operation.origin)) return false;
    return !covering.some((other) => (type === 'file' ? replacesFile : this.#replacesLink)(other, operation));
  }

  /** An operation does not name the link that it replaces: only this member certainly saw the one in its own log. */
  readonly #replacesLink = (other: Operation, link: Operation): boolean =>
    memberOf(other.origin) === this.#parts.self || other.target === link.target;
}

function replacesFile(other: Operation, file: Operation): boolean {
  return other.replaced === file.content || other.content === file.content;
}

/** A name that all members which hold this branch derive alike. */
function incarnationOf(link: Buffer): string {
  return Array.from({ length: incarnationLength }, (_, index) => base32.charAt((link[index] ?? 0) % 32)).join('');
}
