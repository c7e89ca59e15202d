import { isDeepStrictEqual } from 'node:util';
import { LockstepError } from '@lockstep/shared';
import { parse } from 'smol-toml';
import { configKeys } from './config-keys.ts';
import { literal } from './config-template.ts';
import { statementsOf } from './key-lines.ts';
import type { ConfigText } from './schema.ts';

/**
 * The text of a `config.toml` in which `key` has `value`, or is absent if it is undefined. All other lines stay as they are, byte by byte.
 * Comments of the replaced statement stay too: one at its end after the new value, those inside a list above it. A new line goes below the
 * commented one of the template, otherwise to the end. Throws `config-invalid` if the text cannot be edited so that nothing else changes.
 */
export function withSetting(text: string, key: string, value: ConfigText | undefined): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const eol = lines[0]?.endsWith('\r\n') ? '\r\n' : '\n';
  const definition = configKeys.find((each) => each.key === key) ?? {};
  const written = value === undefined ? [] : [`${key} = ${literal(definition, value)}`];
  const found = statementsOf(text).find((statement) => statement.key === key);
  if (found !== undefined) {
    const { begin, end } = found;
    const { inside, atEnd } = commentsOf(lines.slice(begin, end).join(''));
    const last = [...written, ...atEnd].join(' ');
    const added = [...inside, ...(last === '' ? [] : [last])].map((line) => line + eol);
    lines.splice(begin, end - begin, ...added);
  } else {
    const template = lines.findIndex((line) => new RegExp(`^#\\s*${key}\\s*=`).test(line));
    const place = template < 0 ? lines.length : template + 1;
    const before = lines[place - 1];
    if (before !== undefined && written.length > 0 && !before.endsWith('\n')) lines[place - 1] = before + eol;
    lines.splice(place, 0, ...written.map((line) => line + eol));
  }
  const edited = lines.join('');
  const { [key]: _before, ...others } = parse(text);
  if (isDeepStrictEqual(valuesIn(edited), { ...others, ...parse(written.join('')) })) return edited;
  throw new LockstepError(
    'config-invalid',
    `${key} cannot be changed here without changing something else in config.toml. Edit the file by hand.`,
  );
}

/** The values in a text; undefined if it is not valid TOML. */
function valuesIn(text: string): object | undefined {
  try {
    return { ...parse(text) };
  } catch {
    return undefined;
  }
}

/** A string of TOML in one of its four forms, a comment, or any other character. */
const tokens = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\r\n]*|[\s\S]/g;

/** The comments of a statement: those on lines before its last one, and the one at its end. */
function commentsOf(statement: string): { readonly inside: readonly string[]; readonly atEnd: readonly string[] } {
  const comments = (statement.match(tokens) ?? []).filter((token) => token.startsWith('#'));
  const last = comments.at(-1);
  const isAtEnd = last !== undefined && statement.trimEnd().endsWith(last.trimEnd());
  return isAtEnd ? { inside: comments.slice(0, -1), atEnd: [last] } : { inside: comments, atEnd: [] };
}
