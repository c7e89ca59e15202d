import { expect, test } from 'vitest';
import { oneAtATime } from './use-api.ts';

test('requests that come during a run cause one more run after it', async () => {
  const answers: (() => void)[] = [];
  const run = oneAtATime(() => new Promise((resolve) => answers.push(resolve)));
  const running = run();
  for (let event = 0; event < 5; event++) await run();
  expect(answers).toHaveLength(1);
  answers[0]?.();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.();
  await running;
  expect(answers).toHaveLength(2);
  void run();
  expect(answers).toHaveLength(3);
});
