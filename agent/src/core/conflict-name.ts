import { joinPath, nameBytesMax, nameOf, parentOf, pathBytesMax } from '@lockstep/shared';
import { stampMs, stampOfMs } from './hlc.ts';

/** The most bytes of the member's name in the name of a conflict copy: leaves room for the file's own name. */
const memberBytesMax = 32;

/** The separator between the stem and the rest in the name of a conflict copy. */
const copySuffix = '.conflict-';

/**
 * The conflict suffix, `.conflict-<stamp>-<member>`, before the extension. The member part holds no dot, so that the end of the suffix is
 * certain.
 */
const suffixPattern = /\.conflict-\d{8}T\d{9}(?:\+\d{1,4})?Z-[^\p{Cc}\s./\\:*?"<>|%]+(?=\.|$)/gu;

/** The stamp in a conflict suffix. */
const stampPattern = /(\d{8}T\d{9})(?:\+(\d{1,4}))?Z/u;

/** Characters that file systems, shells or people may misread in a name. */
const awkwardPattern = /[\p{Cc}\s./\\:*?"<>|%]+/gu;

/**
 * Splits a name into the stem and the extension by which programs know the file. `.tar.gz` and the like stay whole, and a leading dot
 * begins no extension. An ending with a space or more than 16 characters is part of the stem.
 */
const extensionPattern = /^(.+?)((?:\.tar)?\.[^.\s]{1,16})$/su;

const encoder = new TextEncoder();

/**
 * The path of the conflict copy of content that lost at `path`: `name.conflict-20261121T065602123Z-bee.ext`. It depends only on the losing
 * operation's stamp and its member's name, so that every member gives the copy the same name. A conflict suffix that the name already has
 * is replaced, never stacked. The stem is shortened if the name would be too long. If that is not enough, because the directory's path is
 * nearly as long as a path may be, the copy goes into a directory above.
 */
export function conflictPath(path: string, hlc: number, memberName: string): string {
  const { stem, extension } = splitName(nameOf(path).replace(suffixPattern, ''));
  const ending = `${copySuffix}${formatStamp(hlc)}-${sanitiseMemberName(memberName)}${extension}`;
  const endingBytes = byteLength(ending);
  let directory = parentOf(path);
  while (directory !== '' && byteLength(directory) + 1 + endingBytes > pathBytesMax) directory = parentOf(directory);
  const directoryBytes = directory === '' ? 0 : byteLength(directory) + 1;
  const stemBytesMax = Math.min(nameBytesMax, pathBytesMax - directoryBytes) - endingBytes;
  return joinPath(directory, truncateToBytes(stem, stemBytesMax) + ending);
}

/** The prefix that the paths of all conflict copies of one path have, given one of them. */
export function copyPrefix(copy: string): string {
  return copy.slice(0, copy.lastIndexOf(copySuffix) + copySuffix.length);
}

/** The path that `copy` is a conflict copy of: its own without the suffix. A shortened stem is not restored. */
export function originalPath(copy: string): string {
  return joinPath(parentOf(copy), nameOf(copy).replace(suffixPattern, ''));
}

/** The prefix of the paths of the conflict copies of `path`; the copies of `name.other` have it too. */
export function copiesPrefix(path: string): string {
  return joinPath(parentOf(path), splitName(nameOf(path)).stem + copySuffix);
}

/** The name of the member whose version a conflict copy is, from the copy's name. */
export function loserOf(copy: string): string {
  const suffix = nameOf(copy).match(suffixPattern)?.at(-1) ?? '';
  return suffix.slice(suffix.indexOf('Z-') + 2);
}

/** The stamp of the losing operation, from the name of the conflict copy. 0 if the name has no valid date. */
export function lostStamp(copy: string): number {
  const [, digits = '', counter = '0'] = stampPattern.exec(nameOf(copy).match(suffixPattern)?.at(-1) ?? '') ?? [];
  const iso = digits.replace(/^(....)(..)(..)T(..)(..)(..)(...)$/, '$1-$2-$3T$4:$5:$6.$7Z');
  // A user may have given a file such a name, with a date that does not exist.
  const ms = Math.max(0, Date.parse(iso) || 0);
  return ms === 0 ? 0 : stampOfMs(ms) + Number(counter);
}

/** An ordinary name for a conflict copy that is kept: `name (from bee).ext`, from the second attempt on `name (from bee 2).ext`. */
export function ordinaryPath(copy: string, attempt: number): string {
  const original = originalPath(copy);
  const { stem, extension } = splitName(nameOf(original));
  const ending = ` (from ${loserOf(copy)}${attempt > 1 ? ` ${attempt}` : ''})${extension}`;
  const directory = parentOf(copy);
  const directoryBytes = directory === '' ? 0 : byteLength(directory) + 1;
  const stemBytesMax = Math.min(nameBytesMax, pathBytesMax - directoryBytes) - byteLength(ending);
  return joinPath(directory, truncateToBytes(stem, stemBytesMax) + ending);
}

/** True when the path's name has a conflict suffix. Such a file is an ordinary one in every other respect. */
export function isConflictPath(path: string): boolean {
  return nameOf(path).search(suffixPattern) >= 0;
}

function splitName(name: string): { readonly stem: string; readonly extension: string } {
  const match = extensionPattern.exec(name);
  return { stem: match?.[1] ?? name, extension: match?.[2] ?? '' };
}

/** UTC with milliseconds; the counter within the millisecond follows only if it is not 0. */
function formatStamp(hlc: number): string {
  const compact = new Date(stampMs(hlc)).toISOString().replace(/[-:.Z]/g, '');
  const counter = hlc % 1024;
  return counter === 0 ? `${compact}Z` : `${compact}+${counter}Z`;
}

function sanitiseMemberName(name: string): string {
  const plain = name.toWellFormed().replace(awkwardPattern, '-');
  return truncateToBytes(plain, memberBytesMax).replace(/^-+|-+$/g, '') || 'member';
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The longest prefix of whole code points within `bytesMax` bytes of UTF-8. */
function truncateToBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > bytesMax) break;
    length += character.length;
  }
  return text.slice(0, length);
}
