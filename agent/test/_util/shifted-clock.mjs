// Loaded into an agent with NODE_OPTIONS=--import: its clock is wrong by LOCKSTEP_TEST_CLOCK_SHIFT_MS.
const shiftMs = Number(process.env.LOCKSTEP_TEST_CLOCK_SHIFT_MS ?? 0);
const RealDate = globalThis.Date;

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(RealDate.now() + shiftMs);
    else super(...values);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
