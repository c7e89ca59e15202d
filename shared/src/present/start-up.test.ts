import { expect, test } from 'vitest';
import { type StartUp, startUpText } from './start-up.ts';

const start: StartUp = {
  phase: 'listening',
  catchUp: undefined,
  files: 0,
  unsettled: 0,
  pending: 0,
  progress: undefined,
  sources: [],
};
const progress = { there: 145e6, total: 436e6, bytesPerSecond: 3.2e6, secondsLeft: 90 };

test.each<[Partial<StartUp>, string | undefined]>([
  [{}, 'opening the journal'],
  [{ phase: 'greeting' }, 'connecting to the other members'],
  [{ phase: 'pulling' }, 'receiving operations'],
  [
    { phase: 'pulling', catchUp: { source: 'ant', done: 1_204, total: 5_499 } },
    'receiving operations from ant: 1,204 of 5,499',
  ],
  [{ phase: 'pulling', catchUp: { source: 'ant', done: 0, total: 0 } }, 'receiving operations from ant'],
  [{ phase: 'scanning' }, 'checking files'],
  [{ phase: 'scanning', files: 5_000, unsettled: 1 }, 'checking files: 5,000 files in the journal, 1 path to compare'],
  [{ phase: 'applying' }, 'applying changes'],
  [{ phase: 'applying', pending: 3 }, 'applying changes: 3 paths left'],
  [
    { phase: 'applying', pending: 3, progress, sources: ['ant', 'bee'] },
    'receiving from ant and bee: 145 MB of 436 MB, 3.2 MB/s, 1 min left',
  ],
  [{ phase: 'applying', progress: { ...progress, bytesPerSecond: 0 } }, 'receiving: 145 MB of 436 MB, stalled'],
  [{ phase: 'active' }, undefined],
])('[CL10] a start says what it does and how far it is: %j', (more, text) => {
  expect(startUpText({ ...start, ...more })).toBe(text);
});
