import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '../../testkit/repository.ts';
import type { Result } from '../result.ts';

/** The cost of the dashboard in a real browser. Playwright measures it with its own agent (`e2e/bench`); this only reads its figures. */
export async function page(scratch: string): Promise<Result[]> {
  const file = join(scratch, 'page.json');
  const playwright = spawn(
    join(repositoryRoot, 'node_modules', '.bin', 'playwright'),
    ['test', '--config', 'e2e/bench.config.ts'],
    // Standard output is for the table.
    { cwd: repositoryRoot, stdio: ['ignore', 2, 2], env: { ...process.env, LOCKSTEP_BENCH_RESULTS: file } },
  );
  const [code] = await once(playwright, 'exit');
  if (code !== 0) throw new Error('the page could not be measured: see the messages above');
  return JSON.parse(await readFile(file, 'utf8')) as Result[];
}
