import { randomBytes } from 'node:crypto';
import { mkdir, open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Member } from '../../testkit/member.ts';
import type { Result } from '../result.ts';
import { flush, makeLargeFile, remove, timed } from '../tree.ts';
import { type Trio, throughLockstep, throughProgram } from './through.ts';

const mebibyte = 1_048_576;

interface Edit {
  readonly name: string;
  readonly run: (path: string) => Promise<unknown>;
  readonly target: Result['target'];
  readonly goal: Result['goal'];
  /** MiB that each peer may receive. */
  readonly receivedMax: number;
}

const edits: readonly Edit[] = [
  {
    name: '4 KiB overwritten inside 1 GiB',
    run: (path) => overwrite(path, randomBytes(4_096), 512 * mebibyte + 12_345),
    target: { timesRsync: 0.6 },
    goal: { timesRsync: 0.4 },
    receivedMax: 1.2,
  },
  {
    name: '1 byte inserted before 1 GiB',
    run: (path) => timed('sh', '-c', `{ printf x; cat "${path}"; } > "${path}.new" && mv "${path}.new" "${path}"`),
    target: { timesRsync: 2 },
    goal: { timesRsync: 1.5 },
    receivedMax: 4,
  },
  {
    name: '4 KiB in 3 GiB of holes',
    run: async (path) => {
      await writeFile(path, '');
      await truncate(path, 3_072 * mebibyte);
      await overwrite(path, randomBytes(4_096), 512 * mebibyte);
    },
    target: { atMost: 3_000 },
    goal: { atMost: 3_000 },
    receivedMax: 2,
  },
];

async function overwrite(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(bytes, 0, bytes.length, position);
  } finally {
    await file.close();
  }
}

const receivedMiB = async (member: Member): Promise<number> =>
  (await member.metric('lockstep_peer_received_bytes_total')) / mebibyte;

/** Changes in one large file, which the peers have, beside `rsync -a` to two folders; and what each peer receives. */
export async function largeEdits(members: Trio, scratch: string, repetitions: number): Promise<Result[]> {
  const [ant, bee, cat] = members;
  const template = join(scratch, 'large');
  await makeLargeFile(template, 1_024);
  await throughLockstep(members, () => timed('cp', template, ant.path('file')));
  const source = join(scratch, 'source');
  const targets = [join(scratch, 'one'), join(scratch, 'two')];
  for (const path of [source, ...targets]) {
    await remove(path);
    await mkdir(path, { recursive: true });
    await timed('cp', template, join(path, 'file'));
  }
  const results: Result[] = [];
  for (const { name, run, target, goal, receivedMax } of edits) {
    const lockstep: number[] = [];
    const rsync: number[] = [];
    const received: number[] = [];
    for (let round = 0; round < repetitions; round++) {
      const before = await Promise.all([bee, cat].map(receivedMiB));
      lockstep.push(await throughLockstep(members, () => run(ant.path('file'))));
      const after = await Promise.all([bee, cat].map(receivedMiB));
      received.push(Math.max(...after.map((value, index) => value - (before[index] ?? 0))));
      await flush();
      const startMs = performance.now();
      await run(join(source, 'file'));
      const madeMs = performance.now() - startMs;
      rsync.push(madeMs + (await throughProgram('rsync', source, targets)));
    }
    results.push({ name, unit: 'ms', lockstep, rsync, target, goal });
    const bound = { atMost: receivedMax };
    results.push({ name: `${name}, to each peer`, unit: 'MiB', lockstep: received, target: bound, goal: bound });
  }
  return results;
}
