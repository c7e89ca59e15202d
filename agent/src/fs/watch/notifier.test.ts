import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FSWatcher } from 'chokidar';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { missingPart, Notifier } from './notifier.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

const ignore = () => undefined;

let directory = '';

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-notifier-')));
});

afterEach(() => {
  handlerPrototype._watchWithNodeFs = watchWithNodeFs;
  rmSync(directory, { recursive: true });
});

/** The prototype of chokidar's handler, which is not exported. */
const handlerPrototype = Object.getPrototypeOf(new FSWatcher()._nodeFsHandler) as { _watchWithNodeFs: unknown };
const watchWithNodeFs = handlerPrototype._watchWithNodeFs;

test('the installed chokidar has all members that are used', () => {
  expect(missingPart(new FSWatcher())).toBeUndefined();
});

const handler = { _watchWithNodeFs: ignore };

test.each<[string, object]>([
  ['_nodeFsHandler._watchWithNodeFs', {}],
  ['_nodeFsHandler._watchWithNodeFs', { _nodeFsHandler: {}, _watched: new Map() }],
  ['_watched', { _nodeFsHandler: handler }],
  ['_watched', { _nodeFsHandler: handler, _watched: {} }],
])('a release without %s is recognised', (part, watcher) => {
  expect(missingPart(watcher)).toBe(part);
});

test('with a release with other members, the start fails and says why', () => {
  handlerPrototype._watchWithNodeFs = undefined;
  expect(() => new Notifier(ignore, ignore)).toThrow(
    'The installed release of chokidar cannot watch the folder: _nodeFsHandler._watchWithNodeFs is not as in 5.0.0.',
  );
});

test('with a release that sets watches asynchronously, the first watch fails and says why', async () => {
  handlerPrototype._watchWithNodeFs = async () => ignore;
  const notifier = new Notifier(ignore, ignore);
  expect(() => notifier.watchDirectory(directory)).toThrow('_nodeFsHandler._watchWithNodeFs is not as in 5.0.0.');
  await notifier.close();
});

test('with a release whose events do not name the directory, the first event fails and says why', () => {
  const notifier = new Notifier(ignore, ignore);
  expect(() => notifier.emit('raw', 'rename', 'name', { path: directory })).toThrow('watchedPath of the event raw');
});

test('a closed watch reports nothing and leaks nothing', async () => {
  const names: (string | undefined)[] = [];
  const notifier = new Notifier((_event, name) => names.push(name), ignore);
  const first = notifier.watchDirectory(directory);
  writeFileSync(join(directory, 'seen'), '');
  await vi.waitFor(() => expect(names).toContain('seen'), patience);
  if (typeof first === 'string' || 'failure' in first) throw new Error('The directory was not watched.');
  first.close();
  expect(notifier.getWatched()).toEqual({});
  const second = new Notifier((_event, name) => names.push(name), ignore);
  second.watchDirectory(directory);
  writeFileSync(join(directory, 'once'), '');
  await vi.waitFor(() => expect(names).toContain('once'), patience);
  expect(names.filter((name) => name === 'once')).toHaveLength(1);
  await notifier.close();
  await second.close();
});

test('closing the notifier ends all watches', async () => {
  const notifier = new Notifier(ignore, ignore);
  const watch = notifier.watchDirectory(directory);
  await notifier.close();
  expect(notifier.getWatched()).toEqual({});
  // A second close is harmless.
  if (typeof watch !== 'string' && 'close' in watch) watch.close();
});
