import { expect, test } from 'vitest';
import type { Terminal } from './terminal.ts';
import { watchWork } from './watched-work.ts';

function terminal(isWatched: boolean): { readonly terminal: Terminal; readonly lines: (string | undefined)[] } {
  const lines: (string | undefined)[] = [];
  const parts = { isWatched, progress: (text: string | undefined) => lines.push(text) };
  return { terminal: parts as unknown as Terminal, lines };
}

test('[CL13] on a terminal a work shows how far it is, and removes the line at its end', async () => {
  const watched = terminal(true);
  let asked = 0;
  let end: (result: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    end = resolve;
  });
  const result = watchWork(watched.terminal, work, () => {
    asked++;
    if (asked === 1) return Promise.reject(new Error('no answer'));
    end('done');
    return Promise.resolve(`step ${asked}`);
  });
  expect(await result).toBe('done');
  expect(watched.lines[0]).toBeUndefined();
  expect(watched.lines.at(-1)).toBeUndefined();
});

test('[CL13] elsewhere it asks nothing and shows nothing, and a failure is passed on', async () => {
  const { terminal: unwatched, lines } = terminal(false);
  const ask = (): never => {
    throw new Error('asked');
  };
  expect(await watchWork(unwatched, Promise.resolve(1), ask)).toBe(1);
  await expect(watchWork(unwatched, Promise.reject(new Error('failed')), ask)).rejects.toThrow('failed');
  expect(lines).toEqual([]);
});
