import fc from 'fast-check';

/** Less than the time a unit test has (vitest.config.ts). */
const propertyMsMax = 100_000;

// Vitest evaluates this file for each test file, but all of them share one fast-check.
const installed = Symbol.for('lockstep.bounded-properties');
if (!Reflect.has(globalThis, installed)) {
  Reflect.set(globalThis, installed, true);
  // A property that takes longer fails with its seed, or with the smallest counterexample so far: a test that times out names neither.
  fc.installGlobalPlugin(fc.interruptAfterTimeLimit(propertyMsMax, { failOnInterrupt: true }));
}
