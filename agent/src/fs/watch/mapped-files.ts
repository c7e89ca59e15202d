import { isStatePath } from '@lockstep/shared';
import type { Places } from '../places.ts';

/** A line of /proc/<pid>/maps about a shared mapping that may be stored to: its path. */
const sharedMapping = /^\S+ .w.s \S+ \S+ \d+ +(\/.*)$/;

/**
 * Files of the folder that processes have mapped for writing (the port's `mapped`), by the kernel's lists of mappings. Lists of
 * other users' processes cannot be read, nor those of other containers; there is none outside Linux. Runs in a worker.
 */
export function mappedFiles({ system, realRoot }: Places): readonly string[] {
  const prefix = `${Buffer.from(realRoot).toString('latin1')}/`;
  const found = new Set<string>();
  for (const mappings of system.memoryMaps()) {
    // Nearly all processes have none: one search of the whole text is all that they cost.
    if (!mappings.includes(prefix)) continue;
    for (const line of mappings.split('\n')) {
      const path = sharedMapping.exec(line)?.[1];
      if (path?.startsWith(prefix)) found.add(decode(path.slice(prefix.length)));
    }
  }
  return [...found].filter((path) => !isStatePath(path));
}

/** A line feed in a name is written as an octal number. */
function decode(path: string): string {
  return Buffer.from(path.replaceAll('\\012', '\n'), 'latin1').toString();
}
