import { directoryMode } from '../integrity/placing.ts';
import {
  type AccessParts,
  type Done,
  entryRefusal,
  execute,
  journaled,
  pausedRefusal,
  placeOf,
  settledRefusal,
} from './access-parts.ts';
import { conditionRefusal, type Refused } from './condition.ts';

/** Makes a directory in the folder, and those that are missing above it. It is journaled as a user's change. */
export async function makeDirectory(parts: AccessParts, path: string): Promise<Done | Refused> {
  const early =
    pausedRefusal(parts) ??
    (await entryRefusal(parts, { path, isDirectory: true, size: 0 })) ??
    (await settledRefusal(parts, path));
  if (early !== undefined) return early;
  const refusal = await parts.context.lock.run(async () => {
    const found = await placeOf(parts.context, path);
    if ('done' in found) return found;
    const { operation } = found.current;
    const taken = conditionRefusal({ is: 'absent' }, path, operation);
    if (taken !== undefined) return taken;
    const action = { do: 'mkdir', path, expected: 'absent', mode: directoryMode } as const;
    return execute(
      parts,
      [...found.parents, action].map((action) => ({ action })),
      path,
    );
  });
  return refusal ?? { done: true, isNew: true, operation: await journaled(parts, path) };
}
