import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../testkit/eventually.ts';
import { CounterFile } from '../../os/counter-file.ts';
import { AgentFiles } from './agent-files.ts';

let directory: string;
let server: Server;
let files: AgentFiles;
/** The remote files of the agent, all in one directory. */
let remote: string[];
let questions: number;
/** The names in one answer. */
let pageMax: number;
/** The counters of the agent. */
let counters: CounterFile;
/** Runs right after the agent has answered. */
let afterAnswer: () => void;
/** The status with which it refuses to answer. */
let refusal: number | undefined;
/** The connections by which the mount has files kept. */
let holds: ServerResponse[];
/** Questions that are not answered yet: about renamed directories, and all others while the agent is silent. */
let settling: ServerResponse[];
let isSilent: boolean;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-agent-files-'));
  [remote, questions, afterAnswer, refusal, holds] = [[], 0, () => undefined, undefined, []];
  [settling, isSilent, pageMax] = [[], false, 1_000];
  counters = new CounterFile(join(directory, 'remote-counters'));
  server = createServer((request, response) => {
    questions++;
    if (refusal !== undefined) {
      response.writeHead(refusal).end(JSON.stringify({ error: { code: 'any', message: 'A sentence.' } }));
      return;
    }
    if (request.url?.includes('/remote/hold')) {
      holds.push(response);
      response.writeHead(200).flushHeaders();
      return;
    }
    if (request.url?.includes('/remote/settle')) {
      settling.push(response);
      return;
    }
    if (isSilent) return;
    const asked = new URL(request.url ?? '', 'http://agent').searchParams;
    const [name, after] = [asked.get('name'), asked.get('after') ?? ''];
    const found = remote.filter((each) => (name === null || each === name) && each > after).sort();
    const page = found.slice(0, pageMax);
    const next = page.length < found.length ? page.at(-1) : null;
    const entries = page.map((each) => ({ name: each, version: 'ant.1:1', size: 1, mode: 0o644, mtimeMs: 0 }));
    response.end(JSON.stringify({ files: entries, next, holdsAt: counters.of('d') }));
    afterAnswer();
  });
  const socket = join(directory, 'socket');
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  files = new AgentFiles({
    socketPath: () => Promise.resolve(socket),
    countersPath: join(directory, 'remote-counters'),
    say: () => undefined,
  });
});
afterEach(async () => {
  files.close();
  counters.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

/** The agent drops a file: in this order, and without an answer in between. */
function drop(name: string): void {
  counters.raise('d');
  remote.push(name);
}

const listed = async (): Promise<string[]> => (await files.list('d')).map(({ name }) => name);

test('[OD12] a file is found right after the agent dropped it, also in a directory that was just listed', async () => {
  remote = ['a'];
  expect(await listed()).toEqual(['a']);
  drop('dropped');
  expect(await files.find('d/dropped')).toMatchObject({ name: 'dropped' });
  expect(await listed()).toEqual(['a', 'dropped']);
});

test('[OD12] a file that was fetched and removed through the mount is not shown by a list that was asked for before', async () => {
  remote = ['a'];
  expect(await listed()).toEqual(['a']);
  remote = [];
  files.changed('d/a');
  expect(await files.find('d/a')).toBeUndefined();
  expect(await listed()).toEqual([]);
});

test('[OD12] a read of a version that was replaced or deleted is told apart from one that no member can answer', async () => {
  for (const [status, code] of [
    [410, 'ESTALE'],
    [404, 'ESTALE'],
    [409, 'EIO'],
    [507, 'ENOSPC'],
  ] as const) {
    refusal = status;
    await expect(files.read('d/film', 'ant.1:1', { start: 0, end: 1 })).rejects.toMatchObject({ code });
  }
});

test('[OD12] the attributes of the files in a list are not asked for one by one', async () => {
  remote = ['a', 'b', 'c'];
  await listed();
  for (const name of remote) expect(await files.find(`d/${name}`)).toMatchObject({ name });
  expect(questions).toBe(1);
});

test('[OD12] the attributes of the files in a directory of many pages are not asked for one by one', async () => {
  pageMax = 10;
  remote = Array.from({ length: 200 }, (_, index) => `f${100 + index}`);
  expect(await listed()).toEqual(remote);
  questions = 0;
  for (const name of remote) expect(await files.find(`d/${name}`)).toMatchObject({ name });
  expect(questions).toBeLessThan(60);
});

test('[OD12] a file of such a directory that was changed is asked for again', async () => {
  pageMax = 10;
  remote = Array.from({ length: 30 }, (_, index) => `f${100 + index}`);
  for (const name of remote.slice(0, 5)) await files.find(`d/${name}`);
  remote = remote.filter((name) => name !== 'f108');
  files.changed('d/f108');
  expect(await files.find('d/f108')).toBeUndefined();
  expect(await files.find('d/f109')).toMatchObject({ name: 'f109' });
});

test('[OD20] names that no member has are not asked for one by one, and not waited for', async () => {
  remote = ['a'];
  expect(await files.find('d/none')).toBeUndefined();
  for (let index = 0; index < 100; index++) expect(files.find(`d/none${index}`)).toBeUndefined();
  expect(questions).toBe(1);
});

test('[OD20] names are asked for one by one once a file of the directory became remote, until the list is a second old', async () => {
  expect(await files.find('d/none')).toBeUndefined();
  drop('a');
  expect(await files.find('d/a')).toMatchObject({ name: 'a' });
  expect(await files.find('d/none')).toBeUndefined();
  expect(questions).toBe(3);
});

test('[OD20] a file that becomes remote while the answer is under way is found', async () => {
  afterAnswer = () => {
    afterAnswer = () => undefined;
    drop('dropped');
  };
  expect(await files.find('d/dropped')).toMatchObject({ name: 'dropped' });
});

test('[OD20] a file is found after a restart of the agent, also if it made its counters again', async () => {
  for (const isLost of [false, true]) {
    expect(await files.find('d/none')).toBeUndefined();
    if (isLost) rmSync(join(directory, 'remote-counters'));
    counters.close();
    counters = new CounterFile(join(directory, 'remote-counters'));
    drop(`dropped${isLost}`);
    const name = `dropped${isLost}`;
    // A file that was lost is noticed when the list is a second old.
    await eventually(async () => expect(await files.find(`d/${name}`)).toMatchObject({ name }));
  }
  await eventually(async () => {
    expect(await files.find('d/none')).toBeUndefined();
    expect(files.find('d/none')).toBeUndefined();
  });
});

test('[OD20] a name that the mount freed is free at once, and the others are still known', async () => {
  remote = ['a', 'b'];
  await listed();
  remote = ['b'];
  files.changed('d/a');
  expect(files.find('d/a')).toBeUndefined();
  expect(files.find('d/b')).toMatchObject({ name: 'b' });
  expect(questions).toBe(1);
});

test('[OD12] a file is kept again after a restart of the agent, until it is released', async () => {
  const hold = await files.hold('d/a');
  holds[0]?.destroy();
  refusal = 503;
  await eventually(() => expect(questions).toBeGreaterThan(2));
  refusal = undefined;
  await eventually(() => expect(holds).toHaveLength(2));
  expect(holds[1]?.destroyed).toBe(false);
  hold.release();
  await eventually(() => expect(holds[1]?.destroyed).toBe(true));
  // A hold that is broken later is asked for again, and this one is not.
  const other = await files.hold('d/b');
  holds[2]?.destroy();
  const held = () => holds.map(({ req }) => new URL(req.url ?? '', 'http://agent').searchParams.get('path'));
  await eventually(() => expect(held()).toEqual(['d/a', 'd/a', 'd/b', 'd/b']));
  other.release();
});

test('[OD12] the rename of a large directory is no error, however long the agent journals it', async () => {
  isSilent = true;
  const renamed = files.renamed('d', 'e');
  await eventually(() => expect(settling).toHaveLength(1));
  // It has waited for longer than any other question may.
  await expect(files.remove('e/other')).rejects.toMatchObject({ code: 'EIO' });
  settling[0]?.end('{}');
  await expect(renamed).resolves.toBeUndefined();
}, 20_000);
