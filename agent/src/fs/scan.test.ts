import { expect, test } from 'vitest';
import type { ScannedEntry } from '../sync/ports/observation.ts';
import type { ListedDirectory } from './read/list-directory.ts';
import { scan } from './scan.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** More than a call can have arguments. */
const many = 130_000;

const fingerprint = { ino: 1, size: 0, mtimeMs: 0, ctimeMs: 0, mode: 0o40755 };

/** A disk whose folder has many directories, all empty. */
function withDirectories(): Pick<JobRunner, 'run'> {
  const entries = Array.from({ length: many }, (_, number): ScannedEntry => {
    return { name: `d${number}`, type: 'directory', fingerprint };
  });
  const list = (path: string): ListedDirectory => ({
    scanned: { path, entries: path === '' ? entries : [], skipped: [] },
  });
  return { run: (_job, input) => Promise.resolve((input as readonly string[]).map(list) as never) };
}

test('[LC45] a directory with more directories than a call can have arguments is scanned, parents first', async () => {
  const paths: string[] = [];
  for await (const chunk of scan(withDirectories(), undefined, '', { recursive: true, skip: () => false })) {
    for (const { path } of chunk) paths.push(path);
  }
  expect(paths).toHaveLength(1 + many);
  expect(paths.slice(0, 3)).toEqual(['', 'd0', 'd1']);
  expect(paths.at(-1)).toBe(`d${many - 1}`);
});
