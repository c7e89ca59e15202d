import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Member } from '../../testkit/member.ts';
import { throughOther } from '../others/other.ts';
import { Expenses } from '../spent.ts';
import { remove, useMemory } from '../tree.ts';
import type { Place } from './bulk.ts';
import { throughLockstep, throughProgram } from './through.ts';

const mebibyte = 1_048_576;

type Copying = 'rsync' | 'rsyncDelta';

/** Folders for programs that copy: one that is changed, and two that each program keeps equal to it. */
export interface PlainFolders {
  readonly source: string;
  readonly targets: { readonly [program in Copying]?: readonly string[] };
  /** All of them. */
  readonly all: readonly string[];
}

/** Makes empty folders for these programs. */
export async function makePlainFolders(scratch: string, programs: readonly Copying[]): Promise<PlainFolders> {
  const source = join(scratch, 'source');
  const targets = Object.fromEntries(
    programs.map((program) => [program, ['one', 'two'].map((name) => join(scratch, `${program}-${name}`))]),
  );
  const all = [source, ...Object.values(targets).flat()];
  for (const path of all) {
    await remove(path);
    await mkdir(path, { recursive: true });
  }
  return { source, targets, all };
}

/** A change of what all folders have. */
export interface Change {
  /** The memory that three copies of it need. */
  readonly memoryMiB: number;
  /** Makes what the change needs, before the time is taken. */
  readonly prepare?: () => Promise<unknown>;
  readonly run: (folder: string) => Promise<unknown>;
}

const receivedMiB = async (member: Member): Promise<number> =>
  (await member.metric('lockstep_peer_received_bytes_total')) / mebibyte;

/** The cost of a change through Lockstep and all other programs, and the MiB of contents that each peer received, for each repetition. */
export async function measureChange(
  { members, others, scratch, repetitions }: Place,
  { source, targets }: PlainFolders,
  { memoryMiB, prepare, run }: Change,
): Promise<{ readonly expenses: Expenses; readonly received: readonly number[] }> {
  const [ant, bee, cat] = members;
  const expenses = new Expenses();
  const received: number[] = [];
  for (let round = 0; round < repetitions; round++) {
    await prepare?.();
    const before = await Promise.all([bee, cat].map(receivedMiB));
    await useMemory(scratch, memoryMiB);
    expenses.add('lockstep', await throughLockstep(members, () => run(ant.folder)));
    const after = await Promise.all([bee, cat].map(receivedMiB));
    received.push(Math.max(...after.map((value, index) => value - (before[index] ?? 0))));
    await useMemory(scratch, memoryMiB);
    const startMs = performance.now();
    await run(source);
    const changeMs = performance.now() - startMs;
    for (const program of ['rsync', 'rsyncDelta'] as const) {
      const own = targets[program];
      if (own !== undefined) expenses.add(program, await throughProgram(program, source, own, changeMs));
    }
    if (round > 0) continue;
    for (const other of others) {
      await useMemory(scratch, memoryMiB);
      expenses.add(other.name, await throughOther(other, () => run(other.source)));
    }
  }
  return { expenses, received };
}
