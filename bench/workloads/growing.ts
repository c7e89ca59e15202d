import { open, readFile, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Member } from '../../testkit/member.ts';
import { percentile, type Result } from '../result.ts';
import { makeLargeFile, timed } from '../tree.ts';
import { until } from '../until.ts';
import type { Place } from './bulk.ts';
import type { Trio } from './through.ts';

const mebibyte = 1_048_576;
const pollMs = 20;

/** A writer that appends to a file at an interval. */
interface Writer {
  readonly name: string;
  /** The size of the file before, which both peers have. */
  readonly startMiB: number;
  readonly bytes: number;
  readonly appends: number;
  readonly intervalMs: number;
}

const writers: readonly Writer[] = [
  { name: '200 MB in appends each 50 ms', startMiB: 0, bytes: 250_000, appends: 800, intervalMs: 50 },
  { name: '60 MB in appends each 100 ms', startMiB: 0, bytes: 300_000, appends: 200, intervalMs: 100 },
  { name: 'a line each second in 300 MiB', startMiB: 300, bytes: 100, appends: 30, intervalMs: 1_000 },
  { name: '4 MiB each 5 s in 300 MiB', startMiB: 300, bytes: 4 * mebibyte, appends: 6, intervalMs: 5_000 },
];

/** All bytes that the agent has read until now, from its disk, its page cache and its sockets. */
async function readBytes({ pid }: Member): Promise<number> {
  return Number(/^rchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** Appends to the file of the first member. Returns the times, by size, at which it grew. */
async function append(
  path: string,
  { bytes, appends, intervalMs }: Writer,
  grown: (size: number) => void,
): Promise<void> {
  const file = await open(path, 'a');
  try {
    let { size } = await file.stat();
    const startMs = performance.now();
    for (let index = 0; index < appends; index++) {
      await pause(Math.max(0, startMs + index * intervalMs - performance.now()));
      await file.write(Buffer.alloc(bytes, `${index}\n`));
      size += bytes;
      grown(size);
    }
  } finally {
    await file.close();
  }
}

/** How far a reader on another member is behind the writer of a file that grows, and how much the writer's agent reads for it. */
async function behind([ant, bee]: Trio, writer: Writer, name: string): Promise<Result[]> {
  const path = ant.path(name);
  if (writer.startMiB > 0) await makeLargeFile(path, writer.startMiB);
  const isSame = async () => (await sizeOf(bee.path(name))) === (await sizeOf(path));
  while (!(await isSame())) await pause(pollMs);
  await until([ant], ({ synchronised }) => synchronised);
  const growth: { readonly size: number; readonly atMs: number }[] = [];
  const late: number[] = [];
  const before = await readBytes(ant);
  let isWriting = true;
  const written = append(path, writer, (size) => growth.push({ size, atMs: performance.now() })).finally(() => {
    isWriting = false;
  });
  for (let seen = 0; isWriting || growth.length > seen; ) {
    const size = await sizeOf(bee.path(name));
    while ((growth[seen]?.size ?? Number.POSITIVE_INFINITY) <= size) seen += 1;
    const next = growth[seen];
    late.push(next === undefined ? 0 : performance.now() - next.atMs);
    await pause(pollMs);
  }
  await written;
  const shares = [0.5, 1].map((share) => percentile(late, share));
  const sizes = ((await readBytes(ant)) - before) / (await sizeOf(path));
  const [typical = 0, longest = 0] = shares;
  const bound = { target: { atMost: 10_000 }, goal: { atMost: 5_000 } };
  return [
    { name: `${writer.name}, a reader is behind, p50`, unit: 'ms', lockstep: [typical], ...bound },
    { name: `${writer.name}, longest`, unit: 'ms', lockstep: [longest], ...bound },
    {
      name: `${writer.name}, read by the writer's agent`,
      unit: '×',
      lockstep: [sizes],
      target: { atMost: writer.appends },
      goal: { atMost: 30 },
      note: 'times the size of the file in the end',
    },
  ];
}

/** Files that grow while they are replicated, and a large one that `cp` makes. */
export async function growing({ members, scratch }: Place): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, writer] of writers.entries()) {
    const name = `growing-${index}`;
    results.push(...(await behind(members, writer, name)));
    await until([members[0]], ({ synchronised }) => synchronised);
    await rm(members[0].path(name));
  }
  const [ant, bee] = members;
  await makeLargeFile(`${scratch}/film`, 1_024);
  const before = await readBytes(ant);
  await timed('cp', `${scratch}/film`, ant.path('film'));
  const startMs = performance.now();
  while ((await sizeOf(bee.path('film'))) < 1_024 * mebibyte) await pause(pollMs);
  const bound = { target: { atMost: 10_000 }, goal: { atMost: 5_000 } };
  results.push({ name: '1 GiB by cp, after its end', unit: 'ms', lockstep: [performance.now() - startMs], ...bound });
  await until([ant], ({ synchronised }) => synchronised);
  results.push({
    name: "1 GiB by cp, read by the writer's agent",
    unit: '×',
    lockstep: [((await readBytes(ant)) - before) / (1_024 * mebibyte)],
    target: { atMost: 6 },
    goal: { atMost: 4 },
    note: 'it is read once for the journal and once for each peer',
  });
  return results;
}
