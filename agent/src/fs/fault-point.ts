import { existsSync } from 'node:fs';

/** The named steps of apply, in the order in which one action meets them. A fault can be planted before each. */
export const applySteps = [
  'stage', // bytes go into staging
  'fsync', // what was staged is made durable
  'check', // the target is looked at again
  'keep', // the replaced version goes to history
  'rename', // the new entry takes its name
  'attributes', // mode and time of an entry that stays
  'remove', // an entry goes
  'fsync-directory', // the names are made durable
] as const;

export type ApplyStep = (typeof applySteps)[number];

/** Called before each step. */
export type FaultPoint = (step: ApplyStep) => void;

/** How long a held step sleeps between two looks for the file that holds it. */
const holdIntervalMs = 2;

/**
 * The fault that LOCKSTEP_FAULT asks for, for tests only:
 * `kill:<step>[:n]` ends the process by SIGKILL before the nth such step;
 * `exit:<step>[:n]` ends the thread that reaches the nth such step, and no other;
 * `hold:<step>:<file>` waits before each such step while that file exists.
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
