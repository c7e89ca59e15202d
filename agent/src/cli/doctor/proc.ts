import { readFile } from 'node:fs/promises';

/** The text of a kernel file without the line end; undefined if it does not exist or the system has no such files. */
export function readProc(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** The smallest number in these files, which all limit the same resource; undefined if none can be read. */
export async function smallestLimit(paths: readonly string[]): Promise<number | undefined> {
  const limits = (await Promise.all(paths.map(readProc))).flatMap((text) => (text === undefined ? [] : Number(text)));
  return limits.length === 0 ? undefined : Math.min(...limits);
}
