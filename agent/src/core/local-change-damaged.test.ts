import type { ContentId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { damagedRowOf, find, seen, words } from './_observations.ts';
import type { Seen } from './local-change.ts';
import { ant, file, fingerprint, gone, link, operation, type Shape } from './plan/_fixtures.ts';

describe('[LC16] a row that is damaged', () => {
  const shown = operation('p', file('A'), { origin: ant, seq: 1 });
  const row = damagedRowOf(shown, file('Z'));
  const changeTo = (now: Shape | undefined) => words(find({ seen: seen(now, 2), row, shown, head: shown }));

  test.each([
    { name: 'an edit supersedes nothing', now: file('B'), expected: 'put' },
    { name: 'a link in its place supersedes nothing', now: link('t'), expected: 'symlink' },
    { name: 'the content is back', now: file('A'), expected: 'refresh' },
    { name: 'the content is back under another mode', now: file('A', { mode: 0o600 }), expected: 'attr after ant1' },
    { name: 'a removed entry is no delete', now: undefined, expected: 'forget' },
  ])('$name', ({ now, expected }) => {
    expect(changeTo(now)).toBe(expected);
  });

  test('[LC18] damage that was read stays damage under another time', () => {
    const read = { ...row, found: 'Z' as ContentId };
    expect(words(find({ seen: seen(file('Z'), 2), row: read, shown, head: shown }))).toBe('still-damaged');
  });

  test.each([
    { name: 'bytes that the power cut did not leave are an edit', now: file('B'), ino: 1, expected: 'put' },
    { name: 'bytes that it left are no edit', now: file('Z'), ino: 1, expected: 'still-damaged' },
    { name: 'the same bytes in another file are an edit', now: file('Z'), ino: 2, expected: 'put' },
  ])('[PC6] $name', ({ now, ino, expected }) => {
    const left = { ...row, found: 'Z' as ContentId, cut: true };
    expect(words(find({ seen: seen(now, ino), row: left, shown, head: shown }))).toBe(expected);
  });

  test.each([
    { name: 'zeros under another mode are no edit', change: { mode: 0o600 }, isZeros: true, expected: 'still-damaged' },
    { name: 'zeros of another time are no edit', change: { mtimeUs: 5 }, isZeros: true, expected: 'still-damaged' },
    { name: 'zeros in another file are an edit', change: {}, ino: 2, isZeros: true, expected: 'put' },
    {
      name: 'an empty file under another mode is no edit',
      change: { mode: 0o600 },
      size: 0,
      expected: 'still-damaged',
    },
    { name: 'an empty file of another time is an edit', change: { mtimeUs: 5 }, size: 0, expected: 'put' },
    { name: 'other bytes under another mode are an edit', change: { mode: 0o600 }, expected: 'put' },
  ])('[PC6] $name', ({ change, ino = 1, size = 1, isZeros = false, expected }) => {
    const sized = { ...fingerprint(file('Z'), 1), size };
    const left = { ...row, fingerprint: sized, found: 'Z' as ContentId, cut: true };
    const now = { ...fingerprint(file('Z', change), ino), size, ctimeMs: 9 };
    const found = { ...seen(file('Z', change), ino), fingerprint: now, isZeros } as Seen;
    expect(words(find({ seen: found, row: left, shown, head: shown }))).toBe(expected);
  });

  test('[PC6] if only the time is damaged, the same content is no edit', () => {
    const left = {
      ...row,
      content: 'A' as ContentId,
      fingerprint: fingerprint(file('A', { mtimeUs: 5 }), 1),
      cut: true,
    };
    const now = seen(file('A', { mtimeUs: 5 }));
    expect(words(find({ seen: now, row: left, shown, head: shown }))).toBe('still-damaged');
  });

  // Simulator, seed 168913: the edit had no mode, so that no member accepted it.
  test('an edit of what a delete should have removed has a mode', () => {
    const deleted = operation('p', gone, { origin: ant, seq: 2 }, [shown]);
    const back = { ...damagedRowOf(deleted, file('Z')), cut: true };
    const change = find({ seen: seen(file('B')), row: back, shown: deleted, head: deleted });
    expect(change).toMatchObject({ do: 'draft', draft: { kind: 'put', mode: 0o644 } });
  });

  test('a delete that the disk does not show is adopted once it does', () => {
    const gone_ = operation('p', gone, { origin: ant, seq: 2 }, [shown]);
    const back = damagedRowOf(gone_, file('Z'));
    expect(words(find({ seen: seen(undefined), row: back, shown: gone_, head: gone_ }))).toBe('adopt ant2');
  });
});
