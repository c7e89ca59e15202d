import { apply } from '../apply/apply.ts';
import { readBlock, stageBlocks, stageCopies, unstage } from '../apply/block-store.ts';
import { copyDraft, dropDraft, finishDraft, writeDraft } from '../apply/draft.ts';
import { forgetHistory, inHistory, listHistory } from '../apply/history.ts';
import { keep } from '../apply/keep.ts';
import { findStaged } from '../apply/left-blocks.ts';
import { findPieces, recipeOfBlock, recipeOfRange } from '../apply/moved-pieces.ts';
import { syncChanges } from '../apply/sync-changes.ts';
import { withFolderOpen } from '../descent.ts';
import type { FaultPoint } from '../fault-point.ts';
import { checkMounts } from '../mounts/check-mounts.ts';
import { acceptMount } from '../mounts/mounts.ts';
import type { Places } from '../places.ts';
import { listDirectories } from '../read/list-directory.ts';
import { observe } from '../read/observe.ts';
import { filesInUse, mappedFiles } from '../watch/mapped-files.ts';
import { poll } from '../watch/poll.ts';
import type { JobMessage, JobName, Jobs } from './worker-job.ts';

type Job<Name extends JobName> = (
  places: Places,
  input: Jobs[Name]['input'],
  fault: FaultPoint | undefined,
) => Jobs[Name]['output'];

const jobs: { readonly [Name in JobName]: Job<Name> } = {
  observe,
  list: listDirectories,
  poll,
  mapped: (places) => mappedFiles(places),
  inUse: (places) => filesInUse(places),
  apply,
  sync: syncChanges,
  stageBlocks: (places, { blocks, isFirst }) => stageBlocks(places, blocks, isFirst),
  stageCopies,
  findStaged,
  unstage: (places, content) => {
    unstage(places, content);
    return undefined;
  },
  writeDraft,
  copyDraft,
  finishDraft,
  dropDraft: (places, name) => {
    dropDraft(places, name);
    return undefined;
  },
  readBlocks: (places, blocks) =>
    blocks.map(({ block, source, into }) => {
      const bytes = readBlock(places, block, source, into);
      return into !== undefined && bytes !== undefined ? 'filled' : bytes;
    }),
  holdsBlock: (places, { block, source }) => readBlock(places, block, source) !== undefined,
  recipe: recipeOfBlock,
  chunks: recipeOfRange,
  findPieces,
  keep,
  inHistory,
  listHistory,
  checkMounts,
  acceptMount,
  forgetHistory: (places, contents) => {
    forgetHistory(places, contents);
    return undefined;
  },
};

/** Runs one job. `fault`: called before each step of `apply`. */
export function runJob(places: Places, { job, input }: JobMessage, fault?: FaultPoint): Jobs[JobName]['output'] {
  return withFolderOpen(places, (opened) => (jobs[job] as Job<JobName>)(opened, input, fault));
}
