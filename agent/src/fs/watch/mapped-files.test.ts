import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nodeSystemCalls } from '../node-system-calls.ts';
import type { Places } from '../places.ts';
import { filesInUse, mappedFiles } from './mapped-files.ts';

const mappingLacks =
  process.platform !== 'linux' || spawnSync('python3', ['-c', 'import mmap'], { stdio: 'ignore' }).status !== 0;

/** Maps files until its input ends: those with `w` for writing, the others for reading. */
const script = `
import mmap, sys
mapped = []
for argument in sys.argv[1:]:
    access = mmap.ACCESS_WRITE if argument[0] == 'w' else mmap.ACCESS_READ
    with open(argument[1:], 'r+b') as file:
        mapped.append(mmap.mmap(file.fileno(), 0, access=access))
print('mapped', flush=True)
sys.stdin.read()
`;

async function map(...files: readonly string[]): Promise<ChildProcess> {
  const program = spawn('python3', ['-c', script, ...files], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    program.kill();
  });
  await once(program.stdout, 'data');
  return program;
}

test.skipIf(mappingLacks)('[WT40] files mapped for writing are found, with names of any kind', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-mapped-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'a folder é');
  mkdirSync(join(folder, 'd'), { recursive: true });
  const names = ['plain', 'd/line\nfeed', 'ü and blanks', 'only read'];
  for (const name of [...names, '../outside']) writeFileSync(join(folder, name), 'x');
  const places = { system: nodeSystemCalls(), realRoot: folder } as Places;
  expect(mappedFiles(places)).toEqual([]);
  const written = names.slice(0, 3).map((name) => `w${join(folder, name)}`);
  const program = await map(...written, `w${join(root, 'outside')}`, `r${join(folder, 'only read')}`);
  expect([...mappedFiles(places)].sort()).toEqual(names.slice(0, 3).sort());
  program.kill();
  await once(program, 'exit');
  expect(mappedFiles(places)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  '[OD10] files that other processes have open for writing are found',
  async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-in-use-')));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const places = { system: nodeSystemCalls(), realRoot: root } as Places;
    mkdirSync(join(root, '.lockstep'));
    for (const name of ['ü\nlog', 'only read', '.lockstep/draft']) writeFileSync(join(root, name), 'x');
    const opens = `exec 3>>"ü\nlog" 4<"only read" 5>.lockstep/draft; echo open; read end`;
    const program = spawn('sh', ['-c', opens], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => {
      program.kill();
    });
    await once(program.stdout, 'data');
    expect(filesInUse(places)).toEqual(['ü\nlog']);
    program.stdin.end();
    await once(program, 'exit');
    expect(filesInUse(places)).toEqual([]);
  },
);
