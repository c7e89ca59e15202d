import { describe, expect, test } from 'vitest';
import { find, rowOf, seen, words } from './_observations.ts';
import { ant, bee, directory, file, gone, operation } from './plan/_fixtures.ts';

const shown = operation('p', file('A'), { origin: bee, seq: 1 });
const newer = operation('p', file('B'), { origin: bee, seq: 2 }, [shown]);
const remote = { ...rowOf(shown, undefined), remote: true };

describe('a remote row × the entry', () => {
  const cases = [
    { name: 'nothing is as it should be', is: undefined, expected: 'nothing' },
    { name: 'its own file was not removed yet, or just written', is: file('A'), expected: `adopt ${bee}1` },
    { name: 'another file knows nothing of it', is: file('B'), expected: 'put' },
    { name: 'a directory knows nothing of it', is: directory(), expected: 'mkdir' },
  ];
  test.each(cases)('[OD4] [OD11] $name', ({ is, expected }) => {
    expect(words(find({ seen: seen(is), row: remote, shown, head: shown }))).toBe(expected);
  });

  test('[OD11] a file that was dropped, and not removed before a kill, is no edit after a new version', () => {
    expect(words(find({ seen: seen(file('A')), row: remote, shown, head: newer }))).toBe(`adopt ${bee}1`);
  });
});

// Simulator, seed 81791: a directory was moved out of the folder and back while another member kept a file of it.
test('[OD11] a remote file that its user deleted here, and puts back, replaces that delete', () => {
  const deleted = operation('p', gone, { origin: ant, seq: 1 });
  const input = { row: remote, shown, head: shown, ownDelete: deleted };
  expect(words(find({ ...input, seen: seen(file('A')) }))).toBe(`put after ${ant}1+${bee}1`);
  expect(words(find({ ...input, seen: seen(file('B')) }))).toBe(`put after ${ant}1`);
  expect(words(find({ ...input, seen: seen(undefined) }))).toBe('nothing');
});

describe('a file that is out of date and gone', () => {
  const row = rowOf(shown, file('A'));
  const input = { seen: seen(undefined), row, shown, head: newer };

  test('[OD3] it was removed by the agent if history has it, and a power cut may have taken the record', () => {
    expect(words(find({ ...input, isKept: true, mayHaveRemoved: true }))).toBe('forget');
  });

  test('[OD3] otherwise its user deleted it', () => {
    expect(words(find({ ...input, isKept: false, mayHaveRemoved: true }))).toBe(`delete after ${bee}1 for A`);
    expect(words(find({ ...input, isKept: true }))).toBe(`delete after ${bee}1 for A`);
  });

  test('[OD3] a delete by another member is adopted', () => {
    const deleted = operation('p', gone, { origin: bee, seq: 2 }, [shown]);
    expect(words(find({ ...input, head: deleted, isKept: true, mayHaveRemoved: true }))).toBe(`adopt ${bee}2`);
  });
});
