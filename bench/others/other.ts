import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../testkit/eventually.ts';
import { metered, type Spent } from '../spent.ts';
import { flush, ownEntries, treeHash } from '../tree.ts';

/** Another program that keeps folders the same while it runs, with three folders. */
export interface Other {
  readonly name: 'lsyncd' | 'syncthing' | 'gluster';
  /** The folder that is changed. */
  readonly source: string;
  /** The folders that follow it. */
  readonly targets: readonly [string, string];
  /** Its processes talk over the loopback device. */
  readonly usesNetwork: boolean;
  /** Milliseconds of processor time of all its processes since they were started. */
  processorMs(): Promise<number>;
  close(): Promise<void>;
}

const waitMsMax = 600_000;
/** Programs that missed a change. Later changes would be measured with other folders. */
const behind = new WeakSet<Other>();

/**
 * Measures `change` until both targets are equal to the source. Undefined, with a printed line, if the program missed this change or an
 * earlier one: lsyncd misses a change that keeps the size and the second of the file's time.
 */
export async function throughOther(other: Other, change: () => Promise<unknown>): Promise<Spent | undefined> {
  if (behind.has(other)) return undefined;
  try {
    return await throughLevel(other, change);
  } catch (error) {
    behind.add(other);
    process.stderr.write(`  ${other.name} is left out from here on: ${String(error)}\n`);
    return undefined;
  }
}

async function throughLevel(other: Other, change: () => Promise<unknown>): Promise<Spent> {
  await flush();
  const { wireBytes, ...spent } = await metered(
    () => other.processorMs(),
    async () => {
      await change();
      await untilLevel(other);
    },
  );
  const hashes = await Promise.all([other.source, ...other.targets].map((folder) => treeHash(folder)));
  if (new Set(hashes).size !== 1) throw new Error(`the folders of ${other.name} differ`);
  return other.usesNetwork && wireBytes !== undefined ? { ...spent, wireBytes } : spent;
}

/** Resolves when both targets have the names, sizes and times of the source. Names come first: they are cheap to read. */
export async function untilLevel({ name, source, targets }: Other): Promise<void> {
  for (const read of [namesIn, statesIn]) {
    const startMs = performance.now();
    const wanted = (await read(source)).join('\n');
    // The look must not take much of the processor time that the program needs.
    const intervalMs = Math.max(10, 4 * (performance.now() - startMs));
    for (const target of targets) {
      await eventually(
        async () => {
          if ((await read(target)).join('\n') !== wanted) throw new Error(`a target of ${name} is not level`);
        },
        { timeoutMs: waitMsMax, intervalMs },
      );
    }
  }
}

/** All names below a directory, sorted, without what programs keep for themselves. */
async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => !ownEntries.has(name.split('/', 1)[0] ?? '')).sort();
}

async function statesIn(directory: string): Promise<string[]> {
  const states: string[] = [];
  for (const name of await namesIn(directory)) {
    const stat = await lstat(join(directory, name)).catch(() => undefined);
    const isFile = stat?.isFile() === true;
    states.push(`${name} ${isFile ? `${stat.size} ${Math.trunc(stat.mtimeMs)}` : ''}`);
  }
  return states;
}
