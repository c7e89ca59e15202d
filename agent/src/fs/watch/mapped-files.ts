import { isStatePath } from '@lockstep/shared';
import type { Places } from '../places.ts';

/** A line of /proc/<pid>/maps for a writable shared mapping, with its path. */
const sharedMapping = /^\S+ .w.s \S+ \S+ \d+ +(\/.*)$/;

/**
 * Files of the folder that processes have mapped for writing (the port's `mapped`), from the kernel's lists of mappings. Lists of other
 * users' processes (except for root) and of other containers cannot be read. Only Linux has these lists. Runs in a worker.
 */
export function mappedFiles({ system, realRoot }: Places): readonly string[] {
  const prefix = prefixOf(realRoot);
  const found = new Set<string>();
  for (const mappings of system.memoryMaps()) {
    // Nearly all processes have none: for them one search of the text suffices.
    if (!mappings.includes(prefix)) continue;
    for (const line of mappings.split('\n')) {
      const path = sharedMapping.exec(line)?.[1];
      if (path?.startsWith(prefix)) found.add(decode(path.slice(prefix.length)));
    }
  }
  return [...found].filter((path) => !isStatePath(path));
}

/** Files of the folder that other processes have open or mapped for writing (the port's `inUse`). The limits of `mappedFiles` hold. */
export function filesInUse(places: Places): readonly string[] {
  const prefix = prefixOf(places.realRoot);
  const opened = [...places.system.writtenFiles(prefix)].map((path) => asText(path.slice(prefix.length)));
  return [...new Set([...mappedFiles(places), ...opened.filter((path) => !isStatePath(path))])];
}

function prefixOf(root: string): string {
  return `${Buffer.from(root).toString('latin1')}/`;
}

/** The kernel escapes a line feed in a name as an octal number. */
function decode(path: string): string {
  return asText(path.replaceAll('\\012', '\n'));
}

function asText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
