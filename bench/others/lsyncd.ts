import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Other, untilLevel } from './other.ts';
import { processorMsOf } from './process-tree.ts';

/** lsyncd without a delay, which runs rsync for each of two targets. `directory` is empty. */
export async function startLsyncd(program: string, directory: string): Promise<Other> {
  const [source, one, two] = ['source', 'one', 'two'].map((name) => join(directory, name)) as [string, string, string];
  for (const folder of [source, one, two]) await mkdir(folder, { recursive: true });
  const sync = (target: string): string =>
    `sync { default.rsync, source = ${JSON.stringify(source)}, target = ${JSON.stringify(target)}, delay = 0, rsync = { archive = true } }`;
  const config = join(directory, 'lsyncd.lua');
  await writeFile(config, `settings { nodaemon = true, insist = true }\n${sync(one)}\n${sync(two)}\n`);
  const child = spawn(program, [config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const other: Other = {
    name: 'lsyncd',
    usesNetwork: false,
    source,
    targets: [one, two],
    processorMs: () => processorMsOf(child.pid ?? 0),
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
  await writeFile(join(source, 'first'), 'first');
  await untilLevel(other);
  return other;
}
