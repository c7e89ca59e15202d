import { isStatePath } from '@lockstep/shared';
import { copiesPrefix, originalPath } from '../conflict-name.ts';
import { compileGlob, type Glob, SplitPath } from './wildmatch.ts';

/** The file, at the top of the folder, that holds the rules. It is replicated like any other file. */
export const ignoreFileName = '.lockstepignore';

/** A line that cannot match anything, to be shown to people. */
export interface IgnoreRuleProblem {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly detail: string;
}

/** The rules that say which entries are not replicated. */
export interface IgnoreRules {
  /** True when the entry at `path` is not to be replicated, or lies below a directory that is not. */
  ignores(path: string, isDirectory: boolean): boolean;
  readonly problems: readonly IgnoreRuleProblem[];
}

/** One line. The last line that matches an entry decides. */
interface Rule {
  readonly glob: Glob;
  /** It is an exception: an entry that it matches is not ignored. */
  readonly isNegated: boolean;
  readonly directoriesOnly: boolean;
  /** It is compared with the whole path; otherwise with the name. */
  readonly isPath: boolean;
}

/**
 * True when the rules of `after` certainly ignore all that those of `before` ignore: `after` has all lines of `before` in their order, and
 * adds no exceptions.
 */
export function keepsIgnoring(before: string, after: string): boolean {
  const wanted = linesOf(before);
  let found = 0;
  for (const line of linesOf(after)) {
    if (line === wanted[found]) found++;
    else if (line.startsWith('!')) return false;
  }
  return found === wanted.length;
}

/** The rules of `text` with the patterns, but not the exceptions, of its conflict copies. */
export function withPatternsOf(text: string, copies: readonly string[]): string {
  const own = new Set(linesOf(text));
  const more = new Set(copies.flatMap(linesOf).filter((line) => !line.startsWith('!') && !own.has(line)));
  return more.size === 0 ? text : [text, ...more].join('\n');
}

/** True for the file of the rules and for its conflict copies. */
export function holdsIgnoreRules(path: string): boolean {
  return (
    path === ignoreFileName || (path.startsWith(copiesPrefix(ignoreFileName)) && originalPath(path) === ignoreFileName)
  );
}

function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The number of directories whose verdict is cached; above it the cache is cleared. */
const rememberedDirectoriesMax = 8_192;

/**
 * Parses the text of `.lockstepignore`: the rules of gitignore(5), case-sensitive, relative to the folder. A line with an error is reported
 * and left out; the others hold. State directories are always ignored. The rules' own file never is: the members must agree on it. The
 * comparison of one entry with the rules takes at most as many steps as the rules have characters times those of its path; the verdicts on
 * directories are cached.
 */
export function parseIgnoreRules(text: string): IgnoreRules {
  const problems: IgnoreRuleProblem[] = [];
  const rules = new RuleList();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const rule = parseLine(line);
    if (typeof rule === 'string') problems.push({ line: index + 1, text: line, detail: rule });
    else rules.add(rule);
  }
  const directories = new Map<string, boolean>();

  /** The verdict on a directory holds for all entries below it, whatever other lines say. */
  const ignoresDirectory = (path: string): boolean => {
    const known = directories.get(path);
    if (known !== undefined) return known;
    if (directories.size >= rememberedDirectoriesMax) directories.clear();
    const verdict = ignoresAny(path, true);
    directories.set(path, verdict);
    return verdict;
  };
  const ignoresAny = (path: string, isDirectory: boolean): boolean => {
    const slash = path.lastIndexOf('/');
    return (slash >= 0 && ignoresDirectory(path.slice(0, slash))) || rules.decides(path, isDirectory);
  };

  return {
    problems,
    ignores(path, isDirectory) {
      if (isStatePath(path)) return true;
      if (rules.isEmpty || path === ignoreFileName || path === '') return false;
      return isDirectory ? ignoresDirectory(path) : ignoresAny(path, false);
    },
  };
}

/** The rules in order. A rule that is a plain name, as most are, is found by a map and not compared. */
class RuleList {
  readonly #rules: Rule[] = [];
  readonly #globs: number[] = [];
  readonly #names = new Map<string, number[]>();

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  add(rule: Rule): void {
    const index = this.#rules.push(rule) - 1;
    const { literal } = rule.glob;
    if (rule.isPath || literal === undefined) {
      this.#globs.push(index);
      return;
    }
    const same = this.#names.get(literal);
    if (same === undefined) this.#names.set(literal, [index]);
    else same.push(index);
  }

  /** True when the last rule that matches the entry itself ignores it. */
  decides(path: string, isDirectory: boolean): boolean {
    const split = new SplitPath(path);
    const last = split.names.length - 1;
    const applies = (rule: Rule): boolean => isDirectory || !rule.directoriesOnly;
    const named = this.#names.get(split.names[last] ?? '')?.findLast((index) => applies(this.#at(index))) ?? -1;
    for (let at = this.#globs.length - 1; at >= 0; at--) {
      const index = this.#globs[at] ?? -1;
      if (index < named) break;
      const rule = this.#at(index);
      if (!applies(rule)) continue;
      if (rule.isPath ? rule.glob.matches(split) : rule.glob.matchesName(split, last)) return !rule.isNegated;
    }
    return named >= 0 && !this.#at(named).isNegated;
  }

  #at(index: number): Rule {
    return this.#rules[index] as Rule;
  }
}

/** The rule of a line, or why the line cannot match anything. */
function parseLine(line: string): Rule | string {
  let pattern = withoutTrailingBlanks(line);
  const isNegated = pattern.startsWith('!');
  if (isNegated) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  if (pattern === '') return 'There is no pattern in this line: write the name to match.';
  const isPath = pattern.includes('/');
  const glob = compileGlob(pattern.startsWith('/') ? pattern.slice(1) : pattern, isPath);
  if (glob !== undefined) return { glob, isNegated, directoriesOnly, isPath };
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(pattern)) {
    return 'The line ends with a backslash that quotes nothing: remove it, or write two to match a backslash.';
  }
  if (/\[:\w*:\]/.test(pattern))
    return 'A bracket names a class that does not exist: gitignore(5) has [:alpha:] and its kin.';
  return 'A bracket [ is not closed: add the ], or write \\[ to match a bracket.';
}

/** Removes the blanks at the end, unless a backslash quotes them. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  let quotes = 0;
  while (line[end - quotes - 1] === '\\') quotes++;
  return line.slice(0, quotes % 2 === 1 && end < line.length ? end + 1 : end);
}
