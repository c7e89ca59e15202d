import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Fingerprint } from '../core/entry.ts';
import type { Action } from '../sync/ports/folder.ts';
import type { Observation } from '../sync/ports/observation.ts';
import { openDiskSubject } from './disk-subject.contract.ts';
import { fingerprintOf } from './entry-stat.ts';
import { bytesOf, mtimeUs, writeRequest } from './folder-subject.contract.ts';
import { nodeSystemCalls } from './node-system-calls.ts';
import { openDirectoryContract } from './open-directory.contract.ts';
import { openPlaces } from './open-folder.ts';
import { temporaryNames } from './places.ts';
import { blockHash, expectedBlock, hashBytes } from './read/content-id.ts';
import type { SystemCalls } from './system-calls.ts';
import { runJob } from './worker/jobs.ts';
import type { JobMessage } from './worker/worker-job.ts';

/** In memory if possible: the tests create thousands of small trees. */
const place = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

let base: string;

beforeEach(() => {
  base = fs.mkdtempSync(join(place, 'lockstep-confined-'));
});
afterEach(() => {
  fs.rmSync(base, { recursive: true, force: true });
});

const text = 'content in the folder';
const content = hashBytes(bytesOf(text));
const secret = 'content outside the folder';

/** Creates both trees. Two files outside are hard links to files inside, with equal fingerprints. */
function makeTrees(): void {
  for (const tree of ['folder', 'outside']) {
    for (const path of ['', '/a', '/a/d', '/a/d/sub', '/a/d/empty', '/to']) fs.mkdirSync(`${base}/${tree}${path}`);
    fs.writeFileSync(`${base}/${tree}/a/d/sub/entry`, tree);
    fs.symlinkSync('nowhere', `${base}/${tree}/a/d/link`);
  }
  for (const name of ['file', 'other']) {
    fs.writeFileSync(`${base}/folder/a/d/${name}`, text);
    fs.linkSync(`${base}/folder/a/d/${name}`, `${base}/outside/a/d/${name}`);
  }
  fs.writeFileSync(`${base}/outside/a/d/secret`, secret);
  fs.mkdirSync(`${base}/folder/.lockstep`);
}

/** Everything outside the folder. A write to a file that also has a name inside is visible there. */
function outside(directory = `${base}/outside`): readonly string[] {
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    const { ino, mode, mtimeMs, nlink } = fs.lstatSync(path);
    if (entry.isDirectory()) return [`${path} ${ino} ${mode} ${mtimeMs}`, ...outside(path)];
    return [
      nlink > 1 ? `${path} ${ino}` : `${path} ${ino} ${mode} ${mtimeMs} ${entry.isFile() && fs.readFileSync(path)}`,
    ];
  });
}

/** A program that exchanges a directory of the folder with a link to its copy outside. */
class Exchange {
  readonly #directory: string;
  readonly #aside: string;
  isDone = false;

  constructor(directory: string) {
    this.#directory = `${base}/folder/${directory}`;
    this.#aside = `${base}/folder/aside`;
    fs.symlinkSync(`${base}/outside/${directory}`, `${base}/folder/away`);
  }

  set(isDone: boolean): void {
    if (isDone === this.isDone) return;
    this.isDone = isDone;
    const away = `${base}/folder/away`;
    if (isDone) {
      fs.renameSync(this.#directory, this.#aside);
      fs.renameSync(away, this.#directory);
    } else {
      fs.renameSync(this.#directory, away);
      fs.renameSync(this.#aside, this.#directory);
    }
  }
}

/** The kernel's calls, with `before` called before each. Nothing is synced: that would take long, and does not matter here. */
function callsWith(before: (name: string) => void): SystemCalls {
  return new Proxy(nodeSystemCalls(), {
    get: (calls, name) => {
      const call: unknown = Reflect.get(calls, name);
      if (typeof call !== 'function') return call;
      if (name === 'fsync' || name === 'syncFileSystem') {
        return () => {
          before(name);
          return true;
        };
      }
      return (...args: unknown[]) => {
        before(String(name));
        return Reflect.apply(call, calls, args);
      };
    },
  });
}

/** Runs a job with `before` called before each of its system calls. Returns its output or error, and the number of calls. */
function doJob(
  job: (at: (path: string) => Fingerprint) => JobMessage,
  before: (call: number, name: string) => void,
): { readonly answer: unknown; readonly calls: number } {
  let calls = 0;
  let begun = false;
  const { places } = openPlaces({
    root: `${base}/folder`,
    realRoot: () => `${base}/folder`,
    state: `${base}/folder/.lockstep`,
    system: callsWith((name) => {
      if (begun) before(calls++, name);
    }),
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  const message = job((path) => fingerprintOf(fs.lstatSync(`${base}/folder/${path}`)));
  begun = true;
  try {
    return { answer: runJob(places, message), calls };
  } catch (error) {
    return { answer: error, calls };
  }
}

function clean(): void {
  for (const tree of ['folder', 'outside']) fs.rmSync(`${base}/${tree}`, { recursive: true, force: true });
  makeTrees();
}

/** Matches if the entry that is only outside was listed or observed. */
const secretSeen = /"name":"secret"|secret","state":"(?!absent|changing|problem)/;

type At = (path: string) => Fingerprint;

const apply =
  (action: (at: At) => Action) =>
  (at: At): JobMessage => ({ job: 'apply', input: [{ action: action(at), keep: content.content }] });

const write = (path: string, more: Partial<Extract<Action, { do: 'write' }>> = {}): Action => ({
  do: 'write',
  path,
  expected: 'absent',
  ...content,
  size: text.length,
  mode: 0o644,
  mtimeUs,
  source: { from: 'bytes', bytes: bytesOf(text) },
  ...more,
});

const synced = ['a/d/file', 'a/d/gone', 'a/d/sub'];

const block = expectedBlock({ ...content, size: text.length, index: 0 });

const jobs: readonly (readonly [string, (at: At) => JobMessage])[] = [
  ['a new file', apply(() => write('a/d/new'))],
  ['a file in the place of another', apply((at) => write('a/d/file', { expected: at('a/d/file') }))],
  ['a file in the place of a directory', apply((at) => write('a/d/empty', { expected: at('a/d/empty') }))],
  [
    'a copy of a file',
    apply((at) => write('to/copy', { source: { from: 'file', path: 'a/d/file', fingerprint: at('a/d/file') } })),
  ],
  ['a new directory', apply(() => ({ do: 'mkdir', path: 'a/d/made', expected: 'absent', mode: 0o707 }))],
  [
    'a directory in the place of a file',
    apply((at) => ({ do: 'mkdir', path: 'a/d/file', expected: at('a/d/file'), mode: 0o755 })),
  ],
  ['a new link', apply(() => ({ do: 'symlink', path: 'a/d/new', expected: 'absent', target: 'x', mtimeUs }))],
  ['a delete', apply((at) => ({ do: 'unlink', path: 'a/d/file', expected: at('a/d/file') }))],
  ['a removed directory', apply(() => ({ do: 'rmdir', path: 'a/d/empty' }))],
  [
    'a rename into a directory',
    apply((at) => ({
      do: 'rename',
      from: 'a/d/file',
      to: 'to/moved',
      expectedFrom: at('a/d/file'),
      expected: 'absent',
    })),
  ],
  [
    'a rename within a directory, over another file',
    apply((at) => ({
      do: 'rename',
      from: 'a/d/file',
      to: 'a/d/other',
      expectedFrom: at('a/d/file'),
      expected: at('a/d/other'),
      mode: 0o600,
    })),
  ],
  [
    'a renamed directory',
    apply((at) => ({
      do: 'rename-directory',
      from: 'a/d/sub',
      to: 'to/sub',
      expectedFrom: at('a/d/sub'),
      names: ['entry'],
      mode: 0o700,
    })),
  ],
  ['the mode of a directory', apply((at) => ({ do: 'attr', path: 'a/d/sub', expected: at('a/d/sub'), mode: 0o711 }))],
  [
    'the mode of a directory that exists',
    apply((at) => ({ do: 'mkdir', path: 'a/d/sub', expected: at('a/d/sub'), mode: 0o711 })),
  ],
  [
    'several actions in one directory',
    (at) => ({
      job: 'apply',
      input: [
        { action: { do: 'unlink', path: 'a/d/file', expected: at('a/d/file') }, keep: content.content },
        { action: write('a/d/new') },
        { action: { do: 'rmdir', path: 'a/d/empty' } },
        { action: { do: 'attr', path: 'a/d/sub', expected: at('a/d/sub'), mode: 0o711 } },
      ],
    }),
  ],
  [
    'observations',
    () => ({
      job: 'observe',
      input: ['file', 'secret', 'link', 'other'].map((name) => ({ path: `a/d/${name}`, hashLarge: true })),
    }),
  ],
  ['a listing', () => ({ job: 'list', input: ['a', 'a/d', 'a/d/sub', ''] })],
  [
    'a block',
    (at) => ({
      job: 'readBlocks',
      input: [{ block, source: { from: 'file', path: 'a/d/file', fingerprint: at('a/d/file') } }],
    }),
  ],
  ['the chunks of a file', () => ({ job: 'chunks', input: { path: 'a/d/file', offset: 0, length: 4 } })],
  [
    'a block joined from pieces',
    () => ({
      job: 'stageCopies',
      input: {
        path: 'file',
        copies: [{ block, from: { path: 'a/d/file', pieces: [{ offset: 0, length: text.length }] } }],
        isFirst: true,
      },
    }),
  ],
  [
    'history',
    (at) => ({
      job: 'keep',
      input: [
        { ...content, size: text.length, source: { from: 'file', path: 'a/d/file', fingerprint: at('a/d/file') } },
      ],
    }),
  ],
  ['a sync', () => ({ job: 'sync', input: { paths: synced, left: synced } })],
  ['the identity of a mount', () => ({ job: 'acceptMount', input: 'a/d/sub' })],
];

describe.runIf(process.platform === 'linux')('an open directory', () => {
  openDirectoryContract(() => ({ calls: nodeSystemCalls(), root: base }));
});

describe.runIf(process.platform === 'linux')('[MT8] no path leads out of the folder by a link', () => {
  describe.each(['a', 'a/d'])('while %s is exchanged with a link between any two system calls', (directory) => {
    test.each(jobs)('%s', (_name, job) => {
      clean();
      const { calls } = doJob(job, () => {});
      // From one call on, or for one call only.
      const schedules: ((call: number) => boolean)[] = [];
      for (let at = 0; at < calls; at++) {
        schedules.push(
          (call) => call >= at,
          (call) => call === at,
        );
      }
      for (const schedule of schedules) {
        clean();
        const exchange = new Exchange(directory);
        const before = outside();
        const { answer } = doJob(job, (call) => exchange.set(schedule(call)));
        exchange.set(false);
        expect(outside()).toEqual(before);
        expect(JSON.stringify({ answer })).not.toMatch(secretSeen);
      }
    });
  });

  test('entries of a directory that appears during a batch are not absent, whichever call it precedes', () => {
    const [directory, aside] = [`${base}/folder/a/d`, `${base}/folder/aside`];
    const message = { job: 'observe', input: ['file', 'other'].map((name) => ({ path: `a/d/${name}` })) } as const;
    for (let at = 0, calls = 1; at < calls; at++) {
      clean();
      fs.renameSync(directory, aside);
      // The observation of an entry begins with the time.
      let later = 0;
      const job = doJob(
        () => message,
        (call, name) => {
          if (call === at) fs.renameSync(aside, directory);
          if (call >= at && name === 'wallMs') later++;
        },
      );
      calls = job.calls;
      const states = (job.answer as readonly Observation[]).map(({ state }) => state);
      expect(states.slice(states.length - later), `at call ${at}`).not.toContain('absent');
    }
  });

  test('no descriptor leaks, whichever call fails', () => {
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    for (const [, job] of jobs) {
      clean();
      const { calls } = doJob(job, () => {});
      const before = open();
      for (let failing = 0; failing < calls; failing++) {
        clean();
        doJob(job, (call, name) => {
          if (call === failing && name !== 'close') throw Object.assign(new Error('planted'), { code: 'EIO' });
        });
      }
      expect(open()).toBe(before);
    }
  });

  test('nothing outside is read or changed while a program exchanges a directory continuously', async () => {
    const disk = await openDiskSubject({}, base);
    const elsewhere = `${base}/elsewhere`;
    let program: ChildProcess | undefined;
    try {
      fs.mkdirSync(`${disk.root}/d`);
      fs.mkdirSync(elsewhere);
      fs.writeFileSync(`${elsewhere}/secret`, secret);
      fs.symlinkSync(elsewhere, `${disk.root}/away`);
      program = spawn(process.execPath, ['-e', exchangeForever, disk.root], { stdio: 'ignore' });
      const untilMs = performance.now() + 1_500;
      for (let round = 0; performance.now() < untilMs; round++) {
        const requests = Array.from({ length: 20 }, (_, index) => writeRequest(disk, `d/file-${round}-${index}`, 'x'));
        await disk.folder.apply([
          ...requests,
          { action: { do: 'mkdir', path: `d/${round}`, expected: 'absent', mode: 0o700 } },
        ]);
        const [seen] = await disk.folder.observe([{ path: 'd/secret' }]);
        expect(['absent', 'changing']).toContain(seen?.state);
        for await (const [listed] of disk.folder.scan('d', { recursive: false, skip: () => false })) {
          expect(listed?.entries.map(({ name }) => name)).not.toContain('secret');
        }
      }
    } finally {
      const exited = program && once(program, 'exit');
      program?.kill('SIGKILL');
      // Until then it renames in the folder, so that cannot be removed.
      await exited;
      await disk.close();
    }
    expect(fs.readdirSync(elsewhere)).toEqual(['secret']);
  });
});

/** Runs in its own process, about twenty times per millisecond, until it is killed. */
const exchangeForever = `
  const { renameSync } = require('node:fs');
  process.chdir(process.argv[1]);
  const rename = (from, to) => { try { renameSync(from, to); } catch {} };
  for (;;) {
    rename('d', 'aside'); rename('away', 'd');
    rename('d', 'away'); rename('aside', 'd');
  }`;
