import { parentPort, threadId, workerData } from 'node:worker_threads';
import { type FaultPoint, faultFromEnvironment } from '../fault-point.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { type Places, temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import { withoutLinks } from '../usable-links.ts';
import { runJob } from './jobs.ts';
import type { JobMessage, JobOrder, Jobs, WorkerMessage, WorkerOptions } from './worker-job.ts';
import { countProgress, progressed } from './worker-progress.ts';

/**
 * The thread that reads and writes files. Its system calls are synchronous: that costs a tenth of a promise for each, and the control
 * thread stays free.
 */
const port = parentPort;
if (port === null) throw new Error('fs/worker runs only as a worker thread');
const { places: opened, progress, stepGate } = workerData as WorkerOptions;
countProgress(progress);
const fixed = {
  ...opened,
  // Each job opens it.
  top: undefined,
  system: opened.lacksLinks === true ? withoutLinks(nodeSystemCalls()) : nodeSystemCalls(),
  hash: blockHash,
  temporaryName: temporaryNames(`t${threadId}`),
};
const fault = faultFromEnvironment(process.env.LOCKSTEP_FAULT) ?? (stepGate && waitAtSteps(stepGate));
const step: FaultPoint = (reached) => {
  progressed();
  fault?.(reached);
};

/** Buffers that were read for the answer and have no other user: they are transferred, not copied. */
function transferable(message: JobMessage, output: unknown): ArrayBuffer[] {
  if (message.job === 'readBlocks') {
    return (output as Jobs['readBlocks']['output']).flatMap((bytes) =>
      bytes instanceof Uint8Array ? [bytes.buffer as ArrayBuffer] : [],
    );
  }
  if (message.job !== 'observe') return [];
  const buffers: ArrayBuffer[] = [];
  for (const observation of output as Jobs['observe']['output']) {
    if (observation.state !== 'file') continue;
    if (observation.bytes) buffers.push(observation.bytes.buffer as ArrayBuffer);
    if (observation.blocks) buffers.push(observation.blocks.buffer as ArrayBuffer);
  }
  return buffers;
}

/** Reports each step to the control thread and waits until that has handled it. */
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
