import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** The names that steps use, the files that may be open at once, and the largest offset. */
const names = ['a', 'b', 'c'];
const opensMax = 4;
const offsetMax = 300_000;

/** A generator of numbers from 0 to `below`, the same ones for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** The result of a step, or the code of its error. */
function attempt(step: () => unknown): unknown {
  try {
    return step();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** Does the same random steps with files in two directories, as fsx does. Returns the first difference as a sentence. */
export function firstDifference(one: string, other: string, seed: number, steps: number): string | undefined {
  const random = randomOf(seed);
  const opens: (readonly [number, number])[] = [];
  const both = (step: (directory: string, index: 0 | 1) => unknown): readonly [unknown, unknown] => [
    attempt(() => step(one, 0)),
    attempt(() => step(other, 1)),
  ];
  const name = (): string => names[random(names.length)] ?? '';
  for (let step = 1; step <= steps; step++) {
    const chosen = opens.length === 0 ? undefined : opens[random(opens.length)];
    const offset = random(offsetMax);
    const length = random(20_000);
    const [path, to] = [name(), name()];
    let what = '';
    const results = ((): readonly [unknown, unknown] => {
      const kind = random(20);
      what = `step ${step} (${kind})`;
      if (chosen === undefined || (kind < 3 && opens.length < opensMax)) {
        const flags = ['r+', 'w+', 'wx+', 'a+'][random(4)] ?? 'r';
        const handles = both((directory) => openSync(join(directory, path), flags));
        what += ` open ${path} ${flags}`;
        if (typeof handles[0] === 'number' && typeof handles[1] === 'number') opens.push([handles[0], handles[1]]);
        return handles.map((handle) => (typeof handle === 'number' ? 'opened' : handle)) as [unknown, unknown];
      }
      if (kind < 9) {
        const bytes = Buffer.alloc(length, random(256));
        what += ` write ${length} at ${offset}`;
        return both((_directory, index) => writeSync(chosen[index], bytes, 0, length, offset));
      }
      if (kind < 13) {
        what += ` read ${length} at ${offset}`;
        return both((_directory, index) => {
          const bytes = Buffer.alloc(length);
          return bytes.toString('latin1', 0, readSync(chosen[index], bytes, 0, length, offset));
        });
      }
      if (kind === 13) return both((_directory, index) => ftruncateSync(chosen[index], offset));
      if (kind === 14) return both((directory) => truncateSync(join(directory, path), offset));
      if (kind === 15) return both((_directory, index) => fsyncSync(chosen[index]));
      if (kind === 16) return both((directory) => renameSync(join(directory, path), join(directory, to)));
      if (kind === 17) return both((directory) => unlinkSync(join(directory, path)));
      if (kind === 18) return both((_directory, index) => fstatSync(chosen[index]).size);
      opens.splice(opens.indexOf(chosen), 1);
      return both((_directory, index) => closeSync(chosen[index]));
    })();
    if (results[0] !== results[1]) {
      const shown = results.map((result) => String(result).slice(0, 60));
      return `seed ${seed}, ${what}: ${shown[0]} in the one, ${shown[1]} in the other`;
    }
  }
  for (const handles of opens) for (const handle of handles) closeSync(handle);
  for (const file of names) {
    const [here, there] = both((directory) => readFileSync(join(directory, file), 'latin1'));
    if (here !== there) return `seed ${seed}: ${file} differs at the end`;
  }
  return undefined;
}
