import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { median, type Result } from '../result.ts';
import { useMemory } from '../tree.ts';
import { until } from '../until.ts';
import { fio, hasFio } from './fio.ts';
import type { Trio } from './through.ts';

const rounds = 3;
const mebibytes = 1_024;
/** The share of the local file system that the AFS-like paper reached: reads 1,900 of 4,055 MB/s, writes 601 of 1,030 MB/s. */
const theirs = { write: 601 / 1_030, read: 1_900 / 4_055 };
/** The second read shows what the kernel keeps of the first: the mount is asked for the file's attributes only. */
const passes = [
  { kind: 'write', name: 'written' },
  { kind: 'read', name: 'read' },
  { kind: 'read', name: 'read again' },
] as const;

/** Waits until nothing of the last round is under way. */
const untilLevel = (members: readonly Member[], files: number): Promise<void> =>
  until(members, (status) => status.files === files && status.synchronised);

/** Reads and writes of a file through the mount of a member, in a plain folder of the same disk. Nothing if fio is not installed. */
export async function mountShare(members: Trio, scratch: string): Promise<Result[]> {
  if (!(await hasFio())) return [];
  const [ant] = members;
  const plain = join(scratch, 'plain');
  await mkdir(plain);
  const mount = await Mount.open(ant, join(scratch, 'mount'));
  try {
    const times = passes.map((pass) => ({ ...pass, mount: [] as number[], plain: [] as number[] }));
    for (let round = 0; round < rounds; round++) {
      const places = [['plain', plain] as const, ['mount', mount.point] as const];
      for (const { kind, ...taken } of times) {
        for (const [place, directory] of round % 2 === 0 ? places : places.toReversed()) {
          if (kind === 'write') await useMemory(scratch, Math.ceil(1.1 * mebibytes));
          // In pieces of 1 MiB, as in the source; reads come from the page cache, as theirs do.
          const pass = { directory, kind, mebibytes, block: '1m', more: ['--invalidate=0'] };
          taken[place].push(await fio(pass));
        }
        await untilLevel([ant], 1);
      }
      await rm(join(plain, 'fio'));
      await rm(mount.path('fio'));
      await untilLevel([ant], 0);
    }
    return times.map(({ kind, name, mount: taken, plain }) => {
      const share = theirs[kind];
      const [mountMs, plainMs] = [median(taken), median(plain)];
      const rate = (ms: number): string => `${((1_048.576 * mebibytes) / ms).toFixed(0)} MB/s`;
      return {
        name: `1 GiB ${name} through the mount in 1 MiB`,
        unit: 'ms' as const,
        lockstep: taken,
        target: { atMost: plainMs / share },
        goal: { atMost: plainMs / share },
        note: `${rate(mountMs)} of ${rate(plainMs)} in a plain folder: ${((100 * plainMs) / mountMs).toFixed(0)} %; theirs ${(100 * share).toFixed(0)} %`,
      };
    });
  } finally {
    await mount.close();
  }
}
