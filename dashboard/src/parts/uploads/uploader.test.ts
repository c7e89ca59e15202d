import type { PathReport } from '@lockstep/shared/api';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Sending, Sent } from './send-file.ts';
import { type Agent, Uploader } from './uploader.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

/** Sends that the test answers, by path. */
let open: Map<string, { readonly sending: Sending; readonly answer: (sent: Sent) => void }>;
let holds: Map<string, readonly boolean[]>;
/** The names of the members on demand, and of those of them that are to keep a copy. */
let onDemand: readonly string[];
let placedOn: readonly string[];
let uploader: Uploader;

beforeEach(() => {
  open = new Map();
  holds = new Map();
  [onDemand, placedOn] = [[], []];
  const agent: Agent = {
    send: (sending) =>
      new Promise((resolve) => {
        const answer = (sent: Sent): void => {
          open.delete(sending.path);
          resolve(sent);
        };
        open.set(sending.path, { sending, answer });
        sending.signal.addEventListener('abort', () => answer({ is: 'failed', reason: 'It was stopped.' }));
      }),
    makeDirectory: () => Promise.resolve({ is: 'there' }),
    report: (path) => {
      const members = holds.get(path) ?? [true, true, true];
      const waitsFor = members.every(Boolean) ? [] : [{ reason: 'cat is down.' }];
      const holders = members.map((has, index) => {
        const name = ['ant', 'bee', 'cat'][index] ?? '';
        return { name, holds: has, onDemand: onDemand.includes(name) || undefined };
      });
      return Promise.resolve({ holders, copies: { placedOn }, waitsFor } as unknown as PathReport);
    },
  };
  uploader = new Uploader(agent);
});

const files = (...paths: readonly string[]) =>
  paths.map((path) => ({ path, file: new File(['12345678'], path.slice(path.lastIndexOf('/') + 1)) }));

const answer = (path: string, sent: Sent): void => open.get(path)?.answer(sent);

const shown = (expected: object) => vi.waitFor(() => expect(uploader.get()).toMatchObject([expected]), patience);

test('[DB-F11] bytes are counted while files are sent, some at a time, and then the members that hold them', async () => {
  uploader.add('photos', { files: files('1', '2', '3', 'trip/4', '5'), directories: ['empty'] });
  expect([...open.keys()]).toEqual(['photos/1', 'photos/2', 'photos/3', 'photos/trip/4']);
  open.get('photos/1')?.sending.progressed(5);
  await shown({ directory: 'photos', count: 6, bytes: 40, sentBytes: 5, there: 0, isSending: true });
  expect(uploader.isSending).toBe(true);
  holds.set('photos/1', [true, false, true]);
  for (const path of ['1', '2', '3', 'trip/4']) answer(`photos/${path}`, { is: 'there' });
  await vi.waitFor(() => expect([...open.keys()]).toEqual(['photos/5']), patience);
  answer('photos/5', { is: 'there' });
  await shown({
    sentBytes: 40,
    there: 6,
    isSending: false,
    spread: { on: 2, of: 3, isPart: false, why: 'cat is down.' },
  });
  expect(uploader.isSending).toBe(false);
  holds.clear();
  await uploader.follow();
  await shown({ spread: { on: 3, of: 3, why: undefined } });
  uploader.close(1);
  await vi.waitFor(() => expect(uploader.get()).toEqual([]), patience);
});

test('[DB-F11] of members on demand those are counted that are to keep a copy', async () => {
  onDemand = ['ant', 'bee', 'cat'];
  placedOn = ['ant', 'cat'];
  uploader.add('', { files: files('a'), directories: [] });
  holds.set('a', [true, true, false]);
  answer('a', { is: 'there' });
  await shown({ there: 1, spread: { on: 1, of: 2, isPart: true } });
  holds.set('a', [true, false, true]);
  await uploader.follow();
  await shown({ spread: { on: 2, of: 2, isPart: true, why: undefined } });
});

test('[DB-F11] a file that no member is to keep is sent, and no member is counted', async () => {
  onDemand = ['ant', 'bee', 'cat'];
  uploader.add('', { files: files('a'), directories: [] });
  holds.set('a', [true, false, false]);
  answer('a', { is: 'there' });
  await shown({ there: 1, isSending: false, spread: undefined });
});

test('[DB-F12] a name that is taken is left alone until a person says so, and then only that version is replaced', async () => {
  uploader.add('', { files: files('a', 'b'), directories: [] });
  expect(open.get('a')?.sending.replaces).toBeUndefined();
  answer('a', { is: 'taken', version: 'ant.1:7' });
  answer('b', { is: 'taken', version: 'bee.1:9' });
  await shown({ isSending: false, taken: ['a', 'b'], there: 0 });
  uploader.replace(1);
  expect([...open.values()].map(({ sending }) => sending.replaces)).toEqual(['ant.1:7', 'bee.1:9']);
  answer('a', { is: 'there' });
  answer('b', { is: 'taken', version: 'bee.1:10' });
  await shown({ taken: ['b'], there: 1 });
  uploader.leave(1);
  await shown({ taken: [], count: 1, there: 1, bytes: 8 });
});

test('[DB-F11] what failed says why and can be sent once more, and a stopped upload keeps what is there', async () => {
  uploader.add('', { files: files('a', 'b', 'c', 'd', 'e', 'f'), directories: [] });
  answer('a', { is: 'there' });
  await vi.waitFor(() => expect(open.has('e')).toBe(true), patience);
  uploader.stop(1);
  await shown({
    isSending: false,
    there: 1,
    failed: ['b', 'c', 'd', 'e'].map((path) => ({ path, reason: 'It was stopped.' })),
  });
  uploader.retry(1);
  expect([...open.keys()]).toEqual(['b', 'c', 'd', 'e']);
  expect(open.get('b')?.sending.signal.aborted).toBe(false);
  uploader.close(1);
  await shown({ isSending: true });
});
