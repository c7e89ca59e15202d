import { describe, expect, test } from 'vitest';
import { formatLogLine } from './member-log.ts';

const plain = (_colour: string, text: string): string => text;
const atMs = Date.UTC(2026, 10, 23, 7, 35, 12);

describe('[CL10] a line of the log on a terminal is time, level and sentence', () => {
  test.each([
    [{}, 'a scan failed', '07:35:12  warn   a scan failed'],
    [
      { code: 'disk-full', path: undefined, detail: 'The disk is full.', since: 1 },
      'The disk is full.',
      '07:35:12  warn   The disk is full. (code disk-full)',
    ],
    [
      { peer: 'bee', tries: 3, error: new Error('no answer') },
      'a session ended',
      '07:35:12  warn   a session ended (peer bee, tries 3, error no answer)',
    ],
    [{ path: 'a\nb' }, 'a\u001B[2J', '07:35:12  warn   a\\u{1b}[2J (path a\\nb)'],
  ])('%j', (fields, message, line) => {
    expect(formatLogLine({ level: 'warn', fields, message, atMs }, plain)).toBe(line);
  });
});
