import { parentPort, threadId, workerData } from 'node:worker_threads';
import { type FaultPoint, faultFromEnvironment } from '../fault-point.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { type Places, temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import { runJob } from './jobs.ts';
import type { JobMessage, JobOrder, Jobs, WorkerMessage, WorkerOptions } from './worker-job.ts';
import { countProgress, progressed } from './worker-progress.ts';

/**
 * The thread in which files are read and written. Calls of the file system are synchronous here: that costs a tenth of what
 * a promise for each costs, and the control thread is free meanwhile.
 */
const port = parentPort;
if (port === null) throw new Error('fs/worker runs only as a worker thread');
const { places: opened, progress, stepGate } = workerData as WorkerOptions;
countProgress(progress);
const fixed = {
  ...opened,
  // Each job opens it.
  top: undefined,
  system: nodeSystemCalls(),
  hash: blockHash,
  temporaryName: temporaryNames(`t${threadId}`),
};
const fault = faultFromEnvironment(process.env.LOCKSTEP_FAULT) ?? (stepGate && waitAtSteps(stepGate));
const step: FaultPoint = (reached) => {
  progressed();
  fault?.(reached);
};

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
  const places: Places = { ...fixed, mounts: message.mounts };
  try {
    const output = runJob(places, message, step);
    port.postMessage({ output } satisfies WorkerMessage, transferable(message, output));
  } catch (error) {
    port.postMessage({ error } satisfies WorkerMessage);
  }
});
