// Loaded into an agent with NODE_OPTIONS=--import: its clock is wrong by as many milliseconds as the file at
// LOCKSTEP_TEST_CLOCK_FILE says, which may change while it runs.
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
