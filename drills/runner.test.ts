import { expect, onTestFinished, test, vi } from 'vitest';
import { Runner } from './runner.ts';

test('an interrupted drill has no verdict, whatever its result, and its background work is stopped', async () => {
  let said = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  onTestFinished(() => write.mockRestore());
  const open = () => Promise.reject(new Error('Nothing is opened here.'));
  const settings = { short: true, churnMs: 0, random: Math.random };
  const runner = new Runner({ title: 'nowhere', lacks: () => undefined, open }, settings);
  let fail: (error: Error) => void = () => undefined;
  const stop = vi.fn(() => Promise.resolve());
  const running = runner.run({
    name: 'fire',
    title: 'a fire',
    run: (stage) => {
      stage.whenInterrupted(stop);
      return new Promise((_, reject) => {
        fail = reject;
      });
    },
  });
  expect(runner.interrupted).toBe(false);
  await runner.interrupt();
  // The terminal also interrupts the processes that the drill has started.
  fail(new Error('docker-compose was killed'));
  await running;
  expect(runner.interrupted).toBe(true);
  expect(stop).toHaveBeenCalledOnce();
  expect(said).toContain('Interrupted');
  expect(said).not.toContain('verdict');
});
