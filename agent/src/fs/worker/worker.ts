import { parentPort, workerData } from 'node:worker_threads';
import { apply } from '../apply/apply.ts';
import { keep, readBlock, stageBlock, unstage } from '../apply/block-store.ts';
import { forgetHistory, inHistory, listHistory } from '../apply/history.ts';
import { syncChanges } from '../apply/sync-changes.ts';
import { type FaultPoint, faultFromEnvironment } from '../fault-point.ts';
import { checkMounts } from '../mounts/check-mounts.ts';
import { identifyMount } from '../mounts/mounts.ts';
import { listDirectories } from '../read/list-directory.ts';
import { observe } from '../read/observe.ts';
import { mappedFiles } from '../watch/mapped-files.ts';
import { poll } from '../watch/poll.ts';
import type { JobMessage, JobName, JobOrder, Jobs, WorkerMessage, WorkerOptions } from './worker-job.ts';
import { countProgress, progressed } from './worker-progress.ts';

/**
 * The thread in which files are read and written. Calls of the file system are synchronous here: that costs a tenth of what
 * a promise for each costs, and the control thread is free meanwhile.
 */
const port = parentPort;
if (port === null) throw new Error('fs/worker runs only as a worker thread');
const { places: opened, progress, stepGate } = workerData as WorkerOptions;
countProgress(progress);
let places = opened;
const fault = faultFromEnvironment(process.env.LOCKSTEP_FAULT) ?? (stepGate && waitAtSteps(stepGate));
const step: FaultPoint = (reached) => {
  progressed();
  fault?.(reached);
};

const jobs: { [Name in JobName]: (input: Jobs[Name]['input']) => Jobs[Name]['output'] } = {
  observe: (requests) => observe(places, requests),
  list: (directories) => listDirectories(places, directories),
  poll: (files) => poll(places, files),
  mapped: () => mappedFiles(places),
  apply: (requests) => apply(places, requests, step),
  sync: (paths) => syncChanges(places, paths),
  stageBlock: (request) => stageBlock(places, request),
  unstage: (content) => {
    unstage(places, content);
    return undefined;
  },
  readBlock: ({ block, source }) => readBlock(places, block, source),
  holdsBlock: ({ block, source }) => readBlock(places, block, source) !== undefined,
  keep: (request) => keep(places, request),
  inHistory: (contents) => inHistory(places, contents),
  listHistory: (page) => listHistory(places, page),
  checkMounts: (suspects) => checkMounts(places, suspects),
  identifyMount: (path) => identifyMount(places, path),
  forgetHistory: (contents) => {
    forgetHistory(places, contents);
    return undefined;
  },
};

function run<Name extends JobName>(job: Name, input: Jobs[Name]['input']): Jobs[Name]['output'] {
  return jobs[job](input);
}

/** Bytes that were read for the answer and belong to nobody else: they are handed over, not copied. */
function transferable(message: JobMessage, output: unknown): ArrayBuffer[] {
  if (message.job === 'readBlock' && output instanceof Uint8Array) return [output.buffer as ArrayBuffer];
  if (message.job !== 'observe') return [];
  const buffers: ArrayBuffer[] = [];
  for (const observation of output as Jobs['observe']['output']) {
    if (observation.state !== 'file') continue;
    if (observation.bytes) buffers.push(observation.bytes.buffer as ArrayBuffer);
    if (observation.blocks) buffers.push(observation.blocks.buffer as ArrayBuffer);
  }
  return buffers;
}

/** Tells the control thread of each step and waits until that has done what it wanted. */
function waitAtSteps(gate: SharedArrayBuffer): FaultPoint {
  const passed = new Int32Array(gate);
  return (step) => {
    const before = Atomics.load(passed, 0);
    port?.postMessage({ step } satisfies WorkerMessage);
    Atomics.wait(passed, 0, before);
  };
}

port.on('message', (message: JobOrder) => {
  places = { ...opened, mounts: message.mounts };
  try {
    const output = run(message.job, message.input);
    port.postMessage({ output } satisfies WorkerMessage, transferable(message, output));
  } catch (error) {
    port.postMessage({ error } satisfies WorkerMessage);
  }
});
