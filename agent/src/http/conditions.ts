import type { IncomingHttpHeaders } from 'node:http';
import { LockstepError } from '@lockstep/shared';
import type { Condition } from '../sync/access/condition.ts';
import { HttpError } from './errors.ts';
import { etagOf } from './etag.ts';

/**
 * The versions in a list of entity tags; `any` for `*`. Undefined if it is no such list. `isStrong`: a weak tag is in the list for no version
 * (RFC 9110, 8.8.3.2).
 */
function versionsIn(list: string, isStrong: boolean): ReadonlySet<string> | 'any' | undefined {
  if (list.trim() === '*') return 'any';
  const versions = new Set<string>();
  for (const each of list.split(',')) {
    const [tag, weak, version = ''] = /^\s*(W\/)?"([^"]*)"\s*$/.exec(each) ?? [];
    if (tag === undefined) return undefined;
    if (weak === undefined || !isStrong) versions.add(version);
  }
  return versions;
}

/** The versions that If-Match names. Throws `request-invalid`. */
function namedVersions(match: string): ReadonlySet<string> | 'any' {
  const versions = versionsIn(match, true);
  if (versions === undefined) throw invalid('If-Match must be * or a list of versions in quotes, as ETag gives them.');
  return versions;
}

/** The condition that a request to write sets on the current entry. Throws `request-invalid`. */
export function writeCondition(headers: IncomingHttpHeaders): Condition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined && noneMatch !== undefined) throw invalid('Give either If-Match or If-None-Match, not both.');
  if (noneMatch !== undefined) {
    if (versionsIn(noneMatch, false) !== 'any')
      throw invalid('To write, If-None-Match may only be *: nothing is there.');
    return { is: 'absent' };
  }
  if (match === undefined) return { is: 'none' };
  const versions = namedVersions(match);
  return versions === 'any' ? { is: 'any' } : { is: 'versions', versions };
}

/** The version of `config.toml` that the request names. Throws `version-required`, or `request-invalid` if it names several. */
export function namedVersion(headers: IncomingHttpHeaders): string {
  const condition = writeCondition(headers);
  if (condition.is === 'none') {
    throw new HttpError(428, {
      code: 'version-required',
      message: 'Name the version of config.toml in If-Match, as ETag gives it.',
    });
  }
  const [version, ...others] = condition.is === 'versions' ? condition.versions : [];
  if (version !== undefined && others.length === 0) return version;
  throw invalid('If-Match must name one version of config.toml.');
}

/** True unless the reader asks for other versions, by If-Match. Throws `request-invalid`. */
export function isNamed({ 'if-match': match }: IncomingHttpHeaders, version: string): boolean {
  const versions = match === undefined ? 'any' : namedVersions(match);
  return versions === 'any' || versions.has(version);
}

/** True if the reader has this version already. */
export function isKnown({ 'if-none-match': noneMatch }: IncomingHttpHeaders, version: string): boolean {
  const versions = noneMatch === undefined ? undefined : versionsIn(noneMatch, false);
  return versions === 'any' || versions?.has(version) === true;
}

/** A part of a file, in bytes; the end is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of a file of `size` bytes that a request asks for. Undefined: all of it, also if several parts are asked for, or a part of
 * another version. `invalid`: it begins after the end.
 */
export function rangeOf(
  headers: IncomingHttpHeaders,
  version: string,
  size: number,
): ByteRange | 'invalid' | undefined {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== etagOf(version))) return undefined;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.trim()) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'invalid' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'invalid' : { start, end };
}

function invalid(message: string): LockstepError {
  return new LockstepError('request-invalid', message);
}
