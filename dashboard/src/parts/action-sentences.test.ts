import { expect, test } from 'vitest';
import { pauseWarning, rescanSentence, retrySentence } from './action-sentences.ts';

test.each<[string, string]>([
  [
    rescanSentence({ operations: 0, elapsedMs: 23.4 }),
    'The whole folder was compared in 23 ms: nothing had been missed.',
  ],
  [
    rescanSentence({ operations: 1, elapsedMs: 1_234 }),
    'The whole folder was compared in 1.2 s: 1 change found and sent on.',
  ],
  [retrySentence({ paths: 0 }), 'Members that did not answer are contacted again. No path was waiting.'],
  [retrySentence({ paths: 2 }), 'Members that did not answer are contacted again, and 2 paths are retried.'],
])('[DB-X2] %s', (text, expected) => {
  expect(text).toBe(expected);
});

test('[DB-X1] the warning names the sessions that a pause ends', () => {
  expect(pauseWarning('ant', 0)).toMatch(/^ant has no session with another member now\./);
  expect(pauseWarning('ant', 1)).toMatch(/^ant ends its session with the other member\./);
  expect(pauseWarning('ant', 4)).toMatch(/^ant ends its sessions with 4 members\./);
});
