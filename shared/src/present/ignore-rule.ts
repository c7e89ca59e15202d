/** The codes of problems that end when their path is ignored. */
const endedByRule: ReadonlySet<string> = new Set(['path-special', 'file-too-large']);

/**
 * The line of `.lockstepignore` that ignores the entry at `path` and no other, except what is below it; undefined if no line can. A line
 * cannot contain a line break, and Windows line ends are not part of it.
 */
export function ignoreRuleFor(path: string): string | undefined {
  if (path === '' || /[\r\n]/.test(path)) return undefined;
  // A trailing blank is part of a pattern only if it is quoted.
  return `/${path.replaceAll(/[\\*?[\]]/g, '\\$&').replace(/ +$/, (blanks) => blanks.replaceAll(' ', '\\ '))}`;
}

/** The rule that ends a problem, if one does. */
export function ignoreRuleOf(problem: {
  readonly code: string;
  readonly path?: string | undefined;
}): string | undefined {
  return problem.path !== undefined && endedByRule.has(problem.code) ? ignoreRuleFor(problem.path) : undefined;
}

/** The text of the rules with one more line at its end. */
export function withRule(text: string, rule: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${rule}${eol}`;
}
