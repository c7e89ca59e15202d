import { isMemberPath, nameOf, type Operation } from '@lockstep/shared';
import type { BelowSum, SearchBounds, SearchSlice, TreeTable } from '../sync/ports/head-tables.ts';
import type { JournalDatabase } from './database.ts';
import { absentType } from './heads/head-row.ts';
import type { ParentStore } from './heads/parent-store.ts';
import type { OperationLog } from './operations/operation-log.ts';
import { afterAllPaths, directChildren, rangeBelow } from './path-range.ts';
import { type Bindable, limitTo, type Statement } from './statement.ts';

interface HeadAt {
  readonly op: number;
  readonly path: string;
}

/** The live visible heads as a tree. */
export class TreeReader implements TreeTable {
  readonly #log: OperationLog;
  readonly #parents: ParentStore;
  readonly #between: Statement<HeadAt>;
  readonly #deletedBetween: Statement<HeadAt>;
  readonly #matching: Statement<HeadAt>;
  readonly #sliceEnd: Statement<{ path: string }>;
  readonly #sum: Statement<BelowSum>;

  constructor(database: JournalDatabase, parts: { readonly log: OperationLog; readonly parents: ParentStore }) {
    this.#log = parts.log;
    this.#parents = parts.parents;
    const live = `rank = 0 AND type <> ${absentType}`;
    const columns = 'SELECT op, path FROM heads WHERE';
    this.#between = database.statement(`${columns} path >= ? AND path < ? AND ${live} ORDER BY path ${limitTo}`);
    this.#deletedBetween = database.statement(
      `${columns} path >= ? AND path < ? AND rank = 0 AND type = ${absentType} ORDER BY path ${limitTo}`,
    );
    // The second pattern is for the name alone: it excludes most paths below a directory that matches.
    const name = "substr(path, length(rtrim(path, replace(path, '/', ''))) + 1)";
    this.#matching = database.statement(
      `${columns} path > ? AND path <= ? AND path LIKE ? ESCAPE '\\' AND ${name} LIKE ? ESCAPE '\\' AND ${live} ORDER BY path`,
    );
    this.#sum = database.statement(
      `SELECT coalesce(sum(size), 0) AS bytes, count(*) AS paths FROM (SELECT size FROM heads WHERE path >= ? AND path < ? AND ${live} ${limitTo})`,
    );
    this.#sliceEnd = database.statement('SELECT path FROM heads WHERE path > ? ORDER BY path LIMIT 1 OFFSET 0 + ?');
  }

  liveChildren(directory: string, after: string | undefined, limit: number): readonly Operation[] {
    return this.#children(this.#between, directory, after, limit);
  }

  deletedChildren(directory: string, after: string | undefined, limit: number): readonly Operation[] {
    return this.#children(this.#deletedBetween, directory, after, limit);
  }

  liveChildCount(directory: string): number {
    return this.#parents.liveIn(directory);
  }

  sumBelow(directory: string, pathsMax: number): BelowSum {
    const { from, to } = rangeBelow(directory);
    return this.#sum.get(from, to, pathsMax) ?? { bytes: 0, paths: 0 };
  }

  liveWithPrefix(prefix: string, limit: number): readonly Operation[] {
    // The last code point of Unicode is no character: no real name continues with it.
    return this.#operations(this.#between.all(prefix, `${prefix}\u{10FFFF}`, limit));
  }

  search(text: string, after: string | undefined, { limit, pathsMax }: SearchBounds): SearchSlice {
    const from = after ?? '';
    const end = this.#sliceEnd.get(from, pathsMax - 1)?.path;
    const wanted = text.toLowerCase();
    const inPath = text.includes('/');
    const pattern = likePattern(text);
    const found: HeadAt[] = [];
    for (const row of this.#matching.each(from, end ?? afterAllPaths, pattern, inPath ? '%' : pattern)) {
      if (isMemberPath(row.path)) continue;
      if (!(inPath ? row.path : nameOf(row.path)).toLowerCase().includes(wanted)) continue;
      found.push(row);
      if (found.length === limit) break;
    }
    const next = found.length === limit ? found.at(-1)?.path : end;
    return { found: this.#operations(found), next };
  }

  #children(
    between: Statement<HeadAt>,
    directory: string,
    after: string | undefined,
    limit: number,
  ): readonly Operation[] {
    const children: HeadAt[] = [];
    if (limit < 1) return [];
    for (const child of directChildren(directory, between.all.bind(between), after)) {
      children.push(child);
      if (children.length === limit) break;
    }
    return this.#operations(children);
  }

  #operations(rows: readonly HeadAt[]): readonly Operation[] {
    return rows.flatMap(({ op }) => this.#log.at(op) ?? []);
  }
}

/**
 * A pattern that matches all paths that contain `text`, and few others. SQLite folds the case of ASCII letters only: in place of another
 * letter with two cases, the pattern accepts any character.
 */
function likePattern(text: string): Bindable {
  const characters = Array.from(text, (character) => {
    if (character === '%' || character === '_' || character === '\\') return `\\${character}`;
    if (character <= '\u007F' || character.toLowerCase() === character.toUpperCase()) return character;
    return '_';
  });
  return `%${characters.join('')}%`;
}
