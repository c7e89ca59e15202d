import { parse } from 'smol-toml';

const assignment = /^\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[.=]/;
const header = /^\s*\[\[?\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))/;

/** True when `text` is a whole document, so that the next line begins a new statement. */
function isWhole(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A statement of a TOML text: its top-level key, if it has one, and its lines, from 0; `end` is exclusive. */
interface Statement {
  readonly key: string | undefined;
  readonly begin: number;
  readonly end: number;
}

/**
 * The statements of a valid TOML text, of which a blank or commented line is one too. The parser gives no positions, so the lines are read
 * again. A line counts only where a statement may begin, which excludes the lines of a multi-line string.
 */
export function statementsOf(text: string): readonly Statement[] {
  const found: Statement[] = [];
  let statement = '';
  let begin = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (statement === '') begin = index;
    statement += `${line}\n`;
    if (!isWhole(statement)) continue;
    const match = assignment.exec(statement) ?? header.exec(statement);
    found.push({ key: match?.[1] ?? match?.[2] ?? match?.[3], begin, end: index + 1 });
    statement = '';
  }
  return found;
}

/** The line (from 1) at which each top-level key of a valid TOML text begins. */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { key, begin } of statementsOf(text)) if (key !== undefined && !found.has(key)) found.set(key, begin + 1);
  return found;
}

/** The line of the list element `value` of the key that begins at `keyLine`; `keyLine` itself if it is not found. */
export function elementLine(text: string, keyLine: number, value: unknown): number {
  if (typeof value !== 'string') return keyLine;
  const lines = text.split('\n');
  for (let index = keyLine - 1; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (line.includes(JSON.stringify(value)) || line.includes(`'${value}'`)) return index + 1;
  }
  return keyLine;
}
