import { readFile } from 'node:fs/promises';

/** The text of a file of the kernel, without the line's end; undefined where there is none, or this system has no such files. */
export function readProc(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** The smallest of the numbers in these files, which all are limits of one thing. */
export async function smallestLimit(paths: readonly string[]): Promise<number | undefined> {
  const limits = (await Promise.all(paths.map(readProc))).flatMap((text) => (text === undefined ? [] : Number(text)));
  return limits.length === 0 ? undefined : Math.min(...limits);
}
