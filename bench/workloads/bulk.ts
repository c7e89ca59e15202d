import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Result } from '../result.ts';
import { flush, makeLargeFile, makeSmallFiles, remove, timed } from '../tree.ts';
import { type Trio, throughLockstep, throughProgram } from './through.ts';

interface Series {
  readonly lockstep: number[];
  readonly cp: number[];
  readonly rsync: number[];
}

const newSeries = (): Series => ({ lockstep: [], cp: [], rsync: [] });

/**
 * Creates, renames and deletes a copy of a template tree. For the other programs the same changes are made to a plain folder first. Each
 * round has new contents: those of the last one are in the history of all members, and would not be sent again.
 */
async function series(
  members: Trio,
  scratch: string,
  makeTemplate: (path: string) => Promise<void>,
  repetitions: number,
): Promise<{ create: Series; rename: Series; remove: Series }> {
  const all = { create: newSeries(), rename: newSeries(), remove: newSeries() };
  const [ant] = members;
  const template = join(scratch, 'template');
  for (let round = 0; round < repetitions; round++) {
    await remove(template);
    await makeTemplate(template);
    const [old, moved] = [join(ant.folder, `tree-${round}`), join(ant.folder, `moved-${round}`)];
    all.create.lockstep.push(await throughLockstep(members, () => timed('cp', '-a', template, old)));
    all.rename.lockstep.push(await throughLockstep(members, () => timed('mv', old, moved)));
    all.remove.lockstep.push(await throughLockstep(members, () => timed('rm', '-rf', moved)));
    for (const program of ['cp', 'rsync'] as const) {
      const source = join(scratch, 'source');
      const targets = [join(scratch, 'one'), join(scratch, 'two')];
      for (const path of [source, ...targets]) {
        await remove(path);
        await mkdir(path, { recursive: true });
      }
      await flush();
      const makeMs = await timed('cp', '-a', template, join(source, 'tree'));
      all.create[program].push(makeMs + (await throughProgram(program, source, targets)));
      if (program === 'cp') continue;
      await flush();
      const renameMs = await timed('mv', join(source, 'tree'), join(source, 'moved'));
      all.rename.rsync.push(renameMs + (await throughProgram('rsync', source, targets)));
      await flush();
      const removeMs = await timed('rm', '-rf', join(source, 'moved'));
      all.remove.rsync.push(removeMs + (await throughProgram('rsync', source, targets)));
    }
  }
  return all;
}

export async function smallFiles(members: Trio, scratch: string, repetitions: number): Promise<Result[]> {
  const makeTemplate = (path: string) => makeSmallFiles(path, 10_000, 4096);
  const { create, rename, remove: removed } = await series(members, scratch, makeTemplate, repetitions);
  return [
    {
      name: '10,000 files of 4 KiB in 100 directories',
      unit: 'ms',
      ...create,
      target: { timesRsync: 2 },
      goal: { timesRsync: 1 },
    },
    {
      name: 'rename of a directory of 10,000 files',
      unit: 'ms',
      lockstep: rename.lockstep,
      rsync: rename.rsync,
      target: { timesRsync: 1 },
      goal: { timesRsync: 0.3 },
    },
    {
      name: 'rm -rf of it',
      unit: 'ms',
      lockstep: removed.lockstep,
      rsync: removed.rsync,
      target: { timesRsync: 1.5 },
      goal: { timesRsync: 1 },
    },
  ];
}

export async function largeFile(members: Trio, scratch: string, repetitions: number): Promise<Result[]> {
  const makeTemplate = async (path: string) => {
    await mkdir(path, { recursive: true });
    await makeLargeFile(join(path, 'file'), 1024);
  };
  const { create } = await series(members, scratch, makeTemplate, repetitions);
  return [{ name: 'one file of 1 GiB', unit: 'ms', ...create, target: { timesRsync: 3 }, goal: { timesRsync: 1.5 } }];
}
