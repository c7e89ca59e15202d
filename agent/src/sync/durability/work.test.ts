import { expect, test } from 'vitest';
import { Work } from './work.ts';

test('[CL13] a work is listed until it ends, and never beyond its total', () => {
  const work = new Work();
  const verify = work.begin('verify', 3);
  const replay = work.begin('replay', 5);
  verify.did(2);
  verify.did(2);
  expect(work.list()).toEqual([
    { what: 'verify', done: 4, total: 4 },
    { what: 'replay', done: 0, total: 5 },
  ]);
  verify.end();
  expect(work.list()).toEqual([{ what: 'replay', done: 0, total: 5 }]);
  replay.end();
  expect(work.list()).toEqual([]);
});
