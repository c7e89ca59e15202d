import { isStatePath } from '@lockstep/shared';
import ignore from 'ignore';

/** The file, at the top of the folder, that holds the rules. It is replicated like any other file. */
export const ignoreFileName = '.lockstepignore';

/** A line that cannot match anything, to be shown to people. */
export interface IgnoreRuleProblem {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly detail: string;
}

/** What is not replicated. */
export interface IgnoreRules {
  /** True when the entry at `path` is not to be replicated, or lies below a directory that is not. */
  ignores(path: string, isDirectory: boolean): boolean;
  readonly problems: readonly IgnoreRuleProblem[];
}

/** The library remembers every path it was asked about; beyond this many the memory is dropped and filled anew. */
const rememberedPathsMax = 8_192;

/**
 * Parses the text of `.lockstepignore`: the rules of gitignore(5), case-sensitive, relative to the folder. A line that is
 * wrong is reported and left out, the others hold. State directories are always ignored, the rules' own file never: the
 * members must agree on it.
 */
export function parseIgnoreRules(text: string): IgnoreRules {
  const patterns: string[] = [];
  const problems: IgnoreRuleProblem[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const detail = lineFault(line);
    if (detail === undefined) patterns.push(line);
    else problems.push({ line: index + 1, text: line, detail });
  }
  // As one text and not as a list, so that the library treats the end of a line as it does in a file.
  const rules = ignore({ ignorecase: false }).add(patterns.join('\n'));
  let matcher = rules;
  let askedCount = 0;

  return {
    problems,
    ignores(path, isDirectory) {
      if (isStatePath(path)) return true;
      if (patterns.length === 0 || path === ignoreFileName || path === '') return false;
      askedCount++;
      if (askedCount > rememberedPathsMax) {
        // A new matcher shares the compiled rules; only what it remembers is gone.
        matcher = ignore({ ignorecase: false }).add(rules);
        askedCount = 0;
      }
      return matcher.ignores(isDirectory ? `${path}/` : path);
    },
  };
}

/** Says why a line cannot match anything, as far as that is a mistake and not a matter of what the folder holds. */
function lineFault(line: string): string | undefined {
  const pattern = line.trimEnd();
  if (pattern === '!' || pattern === '/' || pattern === '!/')
    return 'There is no pattern in this line: write the name to match.';
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(pattern) && !line.endsWith('\\ ')) {
    return 'The line ends with a backslash that quotes nothing: remove it, or write two to match a backslash.';
  }
  if (/\[[^\]]*$/.test(pattern.replace(/\\./gsu, ''))) {
    return 'A bracket [ is not closed: add the ], or write \\[ to match a bracket.';
  }
  try {
    // The library compiles a rule when it is first asked.
    ignore({ ignorecase: false }).add(pattern).ignores('any/path');
    return undefined;
  } catch (error) {
    return `This is no pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
}
