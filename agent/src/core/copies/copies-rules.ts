import type { CopiesRule, MemberRecord } from '@lockstep/shared';
import { type IgnoreRules, parseIgnoreRules } from '../ignore/ignore-rules.ts';

/** A number of copies: `all` are those of all members with the whole folder. */
export type Copies = number | 'all';

/** A rule that is in force. */
export interface ActiveRule {
  /** Empty: it is for all files that no other rule is for. */
  readonly pattern: string;
  readonly copies: Copies;
}

/** The rules of the cluster: on at least how many members the content of a file is kept. */
export class CopiesRules {
  /** By pattern. */
  readonly active: readonly ActiveRule[];
  readonly #general: Copies;
  readonly #patterns: readonly { readonly copies: Copies; readonly matches: IgnoreRules }[];

  /** `records`: those of all members, present and past. Of the rules for a pattern the one that was set last is in force. */
  constructor(records: readonly Pick<MemberRecord, 'id' | 'copies'>[]) {
    this.active = [...latest(records).values()]
      .flatMap(({ pattern, copies }) => (copies === null ? [] : [{ pattern, copies }]))
      .sort((a, b) => (a.pattern < b.pattern ? -1 : 1));
    this.#general = this.active.find(({ pattern }) => pattern === '')?.copies ?? 'all';
    this.#patterns = this.active
      .filter(({ pattern }) => pattern !== '')
      .map(({ pattern, copies }) => ({ copies, matches: parseIgnoreRules(pattern) }));
  }

  /** True if no rule asks for a number: nothing has to be placed. */
  get areTrivial(): boolean {
    return this.active.every(({ copies }) => copies === 'all');
  }

  /** The copies of files that no pattern matches. */
  get general(): Copies {
    return this.#general;
  }

  /** The copies of the file at `path`. If several patterns match, the largest number holds. */
  copiesOf(path: string): Copies {
    const matching = this.#patterns.filter(({ matches }) => matches.ignores(path, false)).map(({ copies }) => copies);
    if (matching.length === 0) return this.#general;
    return matching.includes('all') ? 'all' : Math.max(...(matching as number[]));
  }
}

/** The rule in force for each pattern. Two that were set in the same millisecond: that of the member with the larger id. */
function latest(records: readonly Pick<MemberRecord, 'id' | 'copies'>[]): ReadonlyMap<string, CopiesRule> {
  const found = new Map<string, CopiesRule>();
  for (const { copies = [] } of [...records].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    for (const rule of copies) if (rule.at >= (found.get(rule.pattern)?.at ?? 0)) found.set(rule.pattern, rule);
  }
  return found;
}

/** The advice for a cache that has more than it may have, as a sentence. It names nothing that the rules ask for already. */
export function adviceOfOverfull({ active, general }: Pick<CopiesRules, 'active' | 'general'>): string {
  if (active.every(({ copies }) => copies === 'all'))
    return 'Raise cache_size, connect members, unpin something, or have others keep copies (lockstep copies 2).';
  const ways = [
    'Raise cache_size here or on other members',
    'connect those that are away',
    'add one',
    'unpin something',
  ];
  if (general === 'all') ways.push('have others keep the files without a rule too (lockstep copies 2)');
  else if (general > 1) ways.push(`have fewer copies: lockstep copies ${general - 1}`);
  if (active.some(({ pattern, copies }) => pattern !== '' && copies !== 'all' && copies > 1))
    ways.push('lower the numbers of the patterns (lockstep copies lists them)');
  const last = ways.pop();
  return `${ways.join(', ')}, or ${last}.`;
}

/** Why `pattern` cannot be the pattern of a rule, as a sentence; undefined if it can. */
export function patternFault(pattern: string): string | undefined {
  if (pattern.includes('\n') || pattern.includes('\0')) return 'A pattern is one line of text.';
  if (pattern.startsWith('!'))
    return 'There are no exceptions here: set another number for what an exception would name.';
  if (pattern.startsWith('#') || pattern.trim() === '')
    return 'There is no pattern in this text: write the name to match.';
  if (pattern.trim() !== pattern) return 'A pattern has no blanks at its ends.';
  const names = pattern.replace(/^\/|\/$/g, '').split('/');
  if (names.some((name) => ['', '.', '..', '.lockstep'].includes(name)))
    return 'No name in the folder is empty, ".", ".." or ".lockstep".';
  return parseIgnoreRules(pattern).problems[0]?.detail;
}
