import { directoryMode } from '../integrity/placing.ts';
import { type AccessParts, type Done, entryRefusal, execute, journaled, pausedRefusal } from './access-parts.ts';
import { conditionRefusal, type Refused } from './condition.ts';
import { changeSettled } from './place.ts';

/** Makes a directory in the folder, and those that are missing above it. It is journaled as a user's change. */
export async function makeDirectory(parts: AccessParts, path: string): Promise<Done | Refused> {
  const early = pausedRefusal(parts) ?? (await entryRefusal(parts, { path, isDirectory: true, size: 0 }));
  if (early !== undefined) return early;
  const made = await changeSettled(parts, [path], async (placeAt) => {
    const found = await placeAt(path);
    if ('done' in found) return found;
    const { operation } = found.current;
    const taken = conditionRefusal({ is: 'absent' }, path, operation);
    if (taken !== undefined) return taken;
    const action = { do: 'mkdir', path, expected: 'absent', mode: directoryMode } as const;
    const requests = [...found.parents, action].map((action) => ({ action }));
    return (await execute(parts, requests, path)) ?? { done: true };
  });
  return made.done ? { done: true, isNew: true, operation: await journaled(parts, path) } : made;
}
