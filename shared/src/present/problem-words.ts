import { isGrave, type ProblemCode } from '../error-code.ts';

const words: Record<ProblemCode, string> = {
  'path-permission': 'not permitted',
  'path-not-utf8': 'name not UTF‑8',
  'path-too-long': 'name too long',
  'path-in-the-way': 'something in the way',
  'path-special': 'not a file',
  'path-reserved': 'reserved name',
  'path-unsendable': 'cannot be sent',
  'path-io': 'disk error',
  'file-too-large': 'file too large',
  'content-missing': 'content missing',
  'content-corrupt': 'content damaged',
  'file-damaged': 'file damaged here',
  'disk-full': 'disk full',
  'cache-full': 'cache too full',
  'copies-full': 'no room for copies',
  'sync-failed': 'writes not durable',
  'power-cut': 'damaged by a power cut',
  'ignore-rule': 'ignore rule',
  'ignore-file': 'ignore file unreadable',
  'folder-missing': 'folder missing',
  'mount-changed': 'disk changed',
  'folder-stalled': 'disk does not answer',
  'state-unusable': 'state unusable',
  'watch-limit': 'too many directories to watch',
  'clock-skew': 'clock is wrong',
  'digest-mismatch': 'members disagree',
  'journal-rebuilt': 'journal was rebuilt',
  'session-failing': 'sessions fail',
  'cluster-full': 'cluster full',
  'member-refused': 'connection refused',
  'notify-failing': 'notices not sent',
};

/** A problem in two or three words. A newer member may send a code that is not known here. */
export function problemWords(code: string): string {
  return (words as Readonly<Record<string, string>>)[code] ?? code.replaceAll('-', ' ');
}

/** The colour of a problem, which is that of the sentence about it: red only if data or a member is at risk. */
export function problemTone(code: string): 'bad' | 'held' {
  return isGrave(code) ? 'bad' : 'held';
}
