import { type MemberId, type MemberRecord, memberPath } from '@lockstep/shared';
import type { MemberTable } from '../../sync/ports/head-tables.ts';
import type { JournalDatabase } from '../database.ts';
import type { HeadReader } from './head-reader.ts';

/** The member list. Cached: every heartbeat and every name on display asks for it, and it hardly ever changes. */
export class MemberReader implements MemberTable {
  readonly #heads: HeadReader;
  #members: readonly MemberRecord[] | undefined;

  constructor(database: JournalDatabase, heads: HeadReader) {
    this.#heads = heads;
    database.addHook({ afterRollback: () => this.forget() });
  }

  all(): readonly MemberRecord[] {
    this.#members ??= this.#heads
      .under(memberPath('' as MemberId).slice(0, -1), undefined, Number.MAX_SAFE_INTEGER)
      .flatMap(({ member }) => member ?? []);
    return this.#members;
  }

  /** Drops the cached list, which may have changed. */
  forget(): void {
    this.#members = undefined;
  }
}
