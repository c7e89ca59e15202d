import { expect, test } from 'vitest';
import { formatLimit, limitSentence } from './limits.ts';

const mebibyte = 1_048_576;

test.each([
  [mebibyte / 4, '256 KiB/s'],
  [2 * mebibyte, '2 MiB/s'],
  [1.5 * mebibyte, '1.5 MiB/s'],
  [1_500 * mebibyte, '1.46 GiB/s'],
  [1_023 * mebibyte, '1023 MiB/s'],
  [512, '512 B/s'],
])('a limit of %d bytes per second', (bytesPerSecond, text) => {
  expect(formatLimit(bytesPerSecond)).toBe(text);
});

test.each<[string, Parameters<typeof limitSentence>]>([
  [
    'Sending is limited to 2 MiB/s until 18:00.',
    [{ direction: 'send' }, [{ bytesPerSecond: 2 * mebibyte, until: '18:00' }]],
  ],
  [
    'Receiving from cat is limited to 1 MiB/s.',
    [{ direction: 'receive', member: 'cat' }, [{ bytesPerSecond: mebibyte }]],
  ],
  ['Sending is not limited.', [{ direction: 'send' }, [{}]]],
  [
    'Sending to cat is limited to 2 MiB/s until 18:00, then not limited until 08:00.',
    [{ direction: 'send', member: 'cat' }, [{ bytesPerSecond: 2 * mebibyte, until: '18:00' }, { until: '08:00' }]],
  ],
])('[CT24] %s', (sentence, [subject, spans]) => {
  expect(limitSentence(subject, spans)).toBe(sentence);
});
