import { execFile } from 'node:child_process';
import { createHash, type Hash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Writes `count` files of `size` random bytes, 100 in each directory. */
export async function makeSmallFiles(directory: string, count: number, size: number): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    const sub = join(directory, `d${String(first / 100).padStart(4, '0')}`);
    await mkdir(sub, { recursive: true });
    const names = Array.from({ length: Math.min(100, count - first) }, (_, index) => `f${first + index}`);
    await Promise.all(names.map((name) => writeFile(join(sub, name), randomBytes(size))));
  }
}

/** Writes one file of `mebibytes` MiB of random bytes. */
export async function makeLargeFile(path: string, mebibytes: number): Promise<void> {
  const file = await open(path, 'w');
  for (let index = 0; index < mebibytes; index++) await file.write(randomBytes(1_048_576));
  await file.close();
}

/** Runs a program and returns its duration in milliseconds. */
export async function timed(program: string, ...args: string[]): Promise<number> {
  const startMs = performance.now();
  await run(program, args);
  return performance.now() - startMs;
}

export async function flush(): Promise<void> {
  await run('sync');
}

/**
 * Uses this much memory and frees it. A virtual machine gives free memory back to its host, and the first write to such memory takes up to
 * 2.4 s for a GiB: of the program that happens to come first, unless the memory was in use just before.
 */
export async function useMemory(scratch: string, mebibytes: number): Promise<void> {
  const path = join(scratch, 'memory');
  const file = await open(path, 'w');
  const bytes = Buffer.alloc(1_048_576, 1);
  for (let index = 0; index < mebibytes; index++) await file.write(bytes);
  await file.close();
  await remove(path);
  await flush();
}

export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Larger files are read in parts: a stream for each of many small ones takes several times as long. */
const readWholeBytesMax = 16 * 1_048_576;

async function addFile(hash: Hash, path: string): Promise<void> {
  const file = await open(path);
  try {
    if ((await file.stat()).size <= readWholeBytesMax) hash.update(await file.readFile());
    else for await (const bytes of file.createReadStream({ autoClose: false })) hash.update(bytes as Buffer);
  } finally {
    await file.close();
  }
}

/** The names that programs keep for themselves in the folder. */
export const ownEntries: ReadonlySet<string> = new Set(['.lockstep', '.stfolder']);

/** A hash of everything below `directory` except what programs keep there for themselves: names, bytes of files and texts of links. */
export async function treeHash(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const walk = async (path: string): Promise<void> => {
    const entries = await readdir(join(directory, path), { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const name = join(path, entry.name);
      if (ownEntries.has(name)) continue;
      hash.update(`${name}\0`);
      if (entry.isDirectory()) await walk(name);
      else if (entry.isSymbolicLink()) hash.update(await readlink(join(directory, name)));
      else await addFile(hash, join(directory, name));
    }
  };
  await walk('');
  return hash.digest('hex');
}
