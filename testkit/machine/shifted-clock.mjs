// A preload for an agent (NODE_OPTIONS=--import) that shifts its clock. The file at LOCKSTEP_TEST_CLOCK_FILE contains the shift in
// milliseconds; it may change while the agent runs.
import { readFileSync } from 'node:fs';

const RealDate = globalThis.Date;
const readEveryMs = 5;
let shiftMs = 0;
let readMs = Number.NEGATIVE_INFINITY;

function now() {
  const realMs = RealDate.now();
  if (realMs - readMs >= readEveryMs) {
    readMs = realMs;
    shiftMs = Number(readFileSync(process.env.LOCKSTEP_TEST_CLOCK_FILE, 'utf8'));
  }
  return realMs + shiftMs;
}

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(now());
    else super(...values);
  }

  static now() {
    return now();
  }
};
