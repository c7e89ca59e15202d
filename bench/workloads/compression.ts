import { randomBytes } from 'node:crypto';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import { repositoryRoot } from '../../testkit/repository.ts';
import { median, type Result } from '../result.ts';
import { metered } from '../spent.ts';
import { until } from '../until.ts';
import { assertSame, processorMsOf } from './through.ts';

const megabytesPerSecond = [1, 5, 10, 25, 50, 100];
/** So long that the beginning, in which the rate of a line is found, does not count. */
const lineSeconds = 4;
const bytesMax = 96_000_000;

/** The text of programs, up to `bytesMax`. */
async function programText(): Promise<Buffer> {
  const root = join(repositoryRoot, 'node_modules');
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const name of await readdir(root, { recursive: true })) {
    if (!/\.(js|ts|mjs|cjs)$/.test(name)) continue;
    const part = await readFile(join(root, name)).catch(() => Buffer.alloc(0));
    parts.push(part);
    bytes += part.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(parts).subarray(0, bytesMax);
}

/** So much of it, changed in each block: a block that a member has is not sent. */
function unknownText(text: Buffer, bytes: number): Buffer {
  const own = Buffer.from(text.subarray(0, bytes));
  for (let at = 0; at < own.length; at += 100_000) own.write(randomBytes(6).toString('hex'), at);
  return own;
}

/** The times that a file takes to the other member on lines of these rates, and the processor seconds of both members. */
async function timesWith(compression: 'always' | 'never', text: Buffer, directory: string, repetitions: number) {
  const cluster = await Cluster.start(['ant', 'bee'], { directory, proxied: true });
  try {
    const [ant, bee] = cluster.members as [Member, Member];
    for (const member of [ant, bee]) {
      await appendFile(member.state('config.toml'), `\ncompression = "${compression}"\n`);
      await member.restart();
    }
    await cluster.connected();
    const results: { readonly ms: number[]; readonly processorS: number[] }[] = [];
    let files = 0;
    for (const rate of megabytesPerSecond) {
      cluster.shape('ant', 'bee', { bytesPerSecond: 1_000_000 * rate, delayMs: 2 });
      const result = { ms: [] as number[], processorS: [] as number[] };
      for (let round = 0; round < repetitions; round++) {
        const file = unknownText(text, rate * lineSeconds * 1_000_000);
        files++;
        const { ms, processorMs } = await metered(
          () => processorMsOf(cluster.members),
          async () => {
            await ant.put(`text ${files}`, file);
            await until([bee], (status) => status.files >= files && status.pending === 0 && status.synchronised);
          },
        );
        result.ms.push(ms);
        result.processorS.push(processorMs / 1_000);
      }
      results.push(result);
    }
    await assertSame(cluster.members);
    return results;
  } finally {
    await cluster.close();
  }
}

/** Text over lines of several rates with compression, next to the same without it: where the two are equal is the break-even. */
export async function compression(directory: string, repetitions: number): Promise<Result[]> {
  const text = await programText();
  const never = await timesWith('never', text, directory, repetitions);
  const always = await timesWith('always', text, directory, repetitions);
  return megabytesPerSecond.map((rate, index) => {
    const [plainMs, plainS] = [median(never[index]?.ms ?? []), median(never[index]?.processorS ?? [])];
    return {
      name: `text over a line of ${rate} MB/s, compressed`,
      unit: 'ms',
      lockstep: always[index]?.ms ?? [],
      target: { atMost: plainMs },
      goal: { atMost: plainMs / 2 },
      note: `${plainMs.toFixed(0)} ms without compression; processor time of both ${median(always[index]?.processorS ?? []).toFixed(2)} s instead of ${plainS.toFixed(2)}`,
    };
  });
}
