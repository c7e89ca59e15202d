import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '../../testkit/repository.ts';
import { type Other, throughOther } from '../others/other.ts';
import type { Bound, Result } from '../result.ts';
import { Expenses } from '../spent.ts';
import { flush, makeLargeFile, makeSmallFiles, remove, timed, useMemory } from '../tree.ts';
import { type Trio, throughLockstep, throughProgram } from './through.ts';

/** The place where a workload runs. */
export interface Place {
  readonly members: Trio;
  /** Running peers of another kind. They take long, and run each workload once. */
  readonly others: readonly Other[];
  readonly scratch: string;
  readonly repetitions: number;
}

/**
 * Creates, renames and deletes a copy of a template tree. For the copying programs the same changes are made to a plain folder first. Each
 * round has new contents: those of the last one are in the history of all members, and would not be sent again. `memoryMiB`: what three
 * copies take.
 */
async function series(
  { members, others, scratch, repetitions }: Place,
  makeTemplate: (path: string) => Promise<unknown>,
  memoryMiB: number,
): Promise<{ create: Expenses; rename: Expenses; remove: Expenses }> {
  const all = { create: new Expenses(), rename: new Expenses(), remove: new Expenses() };
  const [ant] = members;
  const template = join(scratch, 'template');
  for (let round = 0; round < repetitions; round++) {
    await remove(template);
    await makeTemplate(template);
    const [old, moved] = [`tree-${round}`, `moved-${round}`];
    const paths = [join(ant.folder, old), join(ant.folder, moved)] as const;
    await useMemory(scratch, memoryMiB);
    all.create.add('lockstep', await throughLockstep(members, () => timed('cp', '-a', template, paths[0])));
    all.rename.add('lockstep', await throughLockstep(members, () => timed('mv', ...paths)));
    all.remove.add('lockstep', await throughLockstep(members, () => timed('rm', '-rf', paths[1])));
    for (const program of ['cp', 'rsync'] as const) {
      const source = join(scratch, 'source');
      const targets = [join(scratch, 'one'), join(scratch, 'two')];
      for (const path of [source, ...targets]) {
        await remove(path);
        await mkdir(path, { recursive: true });
      }
      await useMemory(scratch, memoryMiB);
      const makeMs = await timed('cp', '-a', template, join(source, 'tree'));
      all.create.add(program, await throughProgram(program, source, targets, makeMs));
      if (program === 'cp') continue;
      await flush();
      const renameMs = await timed('mv', join(source, 'tree'), join(source, 'moved'));
      all.rename.add('rsync', await throughProgram('rsync', source, targets, renameMs));
      await flush();
      const removeMs = await timed('rm', '-rf', join(source, 'moved'));
      all.remove.add('rsync', await throughProgram('rsync', source, targets, removeMs));
    }
    if (round > 0) continue;
    for (const other of others) {
      const [from, to] = [join(other.source, old), join(other.source, moved)];
      await useMemory(scratch, memoryMiB);
      all.create.add(other.name, await throughOther(other, () => timed('cp', '-a', template, from)));
      all.rename.add(other.name, await throughOther(other, () => timed('mv', from, to)));
      all.remove.add(other.name, await throughOther(other, () => timed('rm', '-rf', to)));
    }
  }
  return all;
}

const bounds = (target: Bound, goal: Bound): Pick<Result, 'unit' | 'target' | 'goal'> => ({ unit: 'ms', target, goal });

/** A directory of 10,000 files: made, renamed, deleted. */
export async function smallFiles(place: Place): Promise<Result[]> {
  const all = await series(place, (path) => makeSmallFiles(path, 10_000, 4_096), 200);
  return [
    {
      name: '10,000 files of 4 KiB in 100 directories',
      ...all.create.result,
      ...bounds({ timesRsync: 1.5 }, { timesRsync: 1 }),
    },
    {
      name: 'rename of a directory of 10,000 files',
      ...all.rename.result,
      ...bounds({ timesRsync: 0.5 }, { timesRsync: 0.3 }),
    },
    { name: 'rm -rf of it', ...all.remove.result, ...bounds({ timesRsync: 1.3 }, { timesRsync: 1 }) },
  ];
}

/** 100,000 files. They are made once: that takes long. */
export async function manyFiles(place: Place): Promise<Result[]> {
  const { create } = await series({ ...place, repetitions: 1 }, (path) => makeSmallFiles(path, 100_000, 1_024), 2_000);
  return [{ name: '100,000 files of 1 KiB', ...create.result, ...bounds({ atMost: 20_000 }, { atMost: 15_000 }) }];
}

/** A file of 1 GiB. */
export async function largeFile(place: Place): Promise<Result[]> {
  const { create } = await series(
    place,
    async (path) => {
      await mkdir(path, { recursive: true });
      await makeLargeFile(join(path, 'file'), 1_024);
    },
    3_200,
  );
  return [{ name: 'one file of 1 GiB', ...create.result, ...bounds({ timesRsync: 1.5 }, { timesRsync: 1.2 }) }];
}

/** The packages that this repository depends on: files of all sizes, deep directories, links. */
export async function realTree(place: Place): Promise<Result[]> {
  const packages = join(repositoryRoot, 'node_modules');
  // The same contents twice would not be sent again.
  const { create } = await series({ ...place, repetitions: 1 }, (path) => timed('cp', '-a', packages, path), 1_500);
  return [{ name: 'a tree of packages', ...create.result, ...bounds({ timesRsync: 1.2 }, { timesRsync: 0.8 }) }];
}
