import { existsSync } from 'node:fs';

/** The named steps of `apply`. A fault can be injected before each. */
export const applySteps = [
  'stage', // bytes are written to staging
  'fsync', // staged files are made durable
  'check', // the target is checked again
  'keep', // the replaced version is added to history
  'rename', // the new entry gets its name
  'attributes', // mode and time of an existing entry are set
  'remove', // an entry is removed
  'fsync-directory', // the names are made durable
] as const;

export type ApplyStep = (typeof applySteps)[number];

/** Called before each step. */
export type FaultPoint = (step: ApplyStep) => void;

/** Interval at which a held step checks whether the file still exists. */
const holdIntervalMs = 2;

/**
 * The fault that LOCKSTEP_FAULT requests, for tests only:
 * - `kill:<step>[:n]` ends the process by SIGKILL before the nth such step;
 * - `exit:<step>[:n]` ends only the thread that reaches the nth such step;
 * - `hold:<step>:<file>` waits before each such step while that file exists.
 */
export function faultFromEnvironment(setting: string | undefined): FaultPoint | undefined {
  if (setting === undefined || setting === '') return undefined;
  const [kind, name, ...rest] = setting.split(':');
  const step = applySteps.find((known) => known === name);
  if (step === undefined) throw new Error(`LOCKSTEP_FAULT names no step of apply: ${setting}`);
  const argument = rest.join(':');
  const nth = argument === '' ? 1 : Number(argument);
  if (kind === 'kill') return atNth(step, nth, () => process.kill(process.pid, 'SIGKILL'));
  // In a worker this ends the thread.
  if (kind === 'exit') return atNth(step, nth, () => process.exit(9));
  if (kind === 'hold' && argument !== '') return holdAt(step, argument);
  throw new Error(`LOCKSTEP_FAULT is none of kill:<step>[:n], exit:<step>[:n] and hold:<step>:<file>: ${setting}`);
}

function atNth(step: ApplyStep, nth: number, happen: () => void): FaultPoint {
  let count = 0;
  return (reached) => {
    if (reached !== step) return;
    count += 1;
    if (count === nth) happen();
  };
}

function holdAt(step: ApplyStep, file: string): FaultPoint {
  const never = new Int32Array(new SharedArrayBuffer(4));
  return (reached) => {
    while (reached === step && existsSync(file)) Atomics.wait(never, 0, 0, holdIntervalMs);
  };
}
