import { expect, test } from 'vitest';
import { workersFromEnvironment } from './worker-pool.ts';

test('an agent has two workers unless LOCKSTEP_WORKERS requests another number', () => {
  expect(workersFromEnvironment(undefined)).toBe(2);
  expect(workersFromEnvironment('')).toBe(2);
  expect(workersFromEnvironment('1')).toBe(1);
  expect(workersFromEnvironment('4')).toBe(4);
});

test.each(['0', '9', '12', 'two', '-1', '1.5'])('LOCKSTEP_WORKERS=%s is refused', (setting) => {
  expect(() => workersFromEnvironment(setting)).toThrow('LOCKSTEP_WORKERS');
});
