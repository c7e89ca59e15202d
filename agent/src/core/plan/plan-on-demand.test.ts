import { expect, test } from 'vitest';
import { bothPlans, directory, file, gone, link, type WorldInput } from './_fixtures.ts';

const live = (input: WorldInput) => bothPlans({ wanted: [], ...input }).live;

test('[OD1] a file that is not wanted is recorded as remote, and fetched only if it is', () => {
  expect(live({ heads: { p: file('A') } })).toEqual(['record p as remote']);
  expect(live({ heads: { p: file('A') }, wanted: ['p'] })).toEqual(['need A for p']);
});

test('[OD1] directories and links are made', () => {
  expect(live({ heads: { d: directory(), 'd/l': link('t') } })).toEqual(['mkdir d 755', 'symlink d/l to t']);
});

test('[OD1] a content that is on this disk is put at its path: it may be the only one', () => {
  expect(live({ heads: { p: file('A') }, history: 'A' })).toEqual(['write p=A from history']);
  // A conflict copy of the file that a directory is about to replace.
  expect(live({ disk: { p: file('A') }, heads: { p: directory(), 'p.copy': file('A') } })).toEqual([
    'mkdir p 755 over file, keep A',
    'write p.copy=A from p',
  ]);
});

test('[OD1] a file is not remote while a mount hides its content on this disk: a delete of that file may follow', () => {
  expect(live({ heads: { p: file('A') }, hidden: 'A' })).toEqual(['hidden p']);
  expect(live({ heads: { p: file('A') }, hidden: 'A', wanted: ['p'] })).toEqual(['need A for p']);
});

test('[OD3] a file of this member is removed when a version comes that is not here', () => {
  expect(live({ disk: { p: file('A') }, heads: { p: file('B') } })).toEqual(['unlink p, keep A']);
  expect(live({ disk: { p: file('A') }, heads: { p: file('B') }, staged: 'B' })).toEqual([
    'write p=B from staged over file, keep A',
  ]);
});

test('[OD3] a link and an empty directory give way to a file that is not here', () => {
  expect(live({ disk: { p: link('t') }, heads: { p: file('B') } })).toEqual(['unlink p']);
  expect(live({ disk: { p: directory() }, heads: { p: file('B') } })).toEqual(['rmdir p']);
});

test('[OD1] damage is mended, not dropped', () => {
  expect(live({ disk: { p: file('A', { damaged: true }) } })).toEqual(['need A for p']);
});

test('[OD1] a new mode, a rename and a delete need no content', () => {
  expect(live({ disk: { p: file('A') }, heads: { p: file('A', { mode: 0o600 }) } })).toEqual(['attr p 600 @1000000']);
  expect(live({ disk: { p: file('A') }, heads: { q: file('A', { from: 'p' }), p: gone } })).toEqual(['rename p to q']);
});

test('[CP3] a copy that this member keeps is put into the folder if it came with its operation, and is fetched later if not', () => {
  expect(live({ heads: { p: file('A') }, placed: ['p'], received: 'A' })).toEqual(['write p=A from bytes']);
  expect(live({ heads: { p: file('A') }, received: 'A' })).toEqual(['record p as remote']);
  expect(live({ heads: { p: file('A') }, placed: ['p'] })).toEqual(['record p as remote']);
});
