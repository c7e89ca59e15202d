import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentFiles } from './agent-files.ts';

let directory: string;
let server: Server;
let files: AgentFiles;
/** The remote files of the agent, all in one directory. */
let remote: string[];
let questions: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-agent-files-'));
  [remote, questions] = [[], 0];
  server = createServer((request, response) => {
    questions++;
    const name = new URL(request.url ?? '', 'http://agent').searchParams.get('name');
    const found = remote.filter((each) => name === null || each === name).sort();
    const entries = found.map((each) => ({ name: each, version: 'ant.1:1', size: 1, mode: 0o644, mtimeMs: 0 }));
    response.end(JSON.stringify({ files: entries, next: null }));
  });
  const socket = join(directory, 'socket');
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  files = new AgentFiles(
    () => Promise.resolve(socket),
    () => undefined,
  );
});
afterEach(async () => {
  files.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

const listed = async (): Promise<string[]> => (await files.list('d')).map(({ name }) => name);

test('[OD12] a file is found right after the agent dropped it, also in a directory that was just listed', async () => {
  remote = ['a'];
  expect(await listed()).toEqual(['a']);
  remote = ['a', 'dropped'];
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

test('[OD12] the attributes of the files in a list are not asked for one by one', async () => {
  remote = ['a', 'b', 'c'];
  await listed();
  for (const name of remote) expect(await files.find(`d/${name}`)).toMatchObject({ name });
  expect(questions).toBe(1);
});
