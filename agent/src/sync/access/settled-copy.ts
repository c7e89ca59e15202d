import { currentVersion } from '../integrity/current-version.ts';
import type { Context } from '../state/context.ts';
import { type AccessParts, execute } from './access-parts.ts';
import { conditionRefusal, type Refused, refused } from './condition.ts';

/** A conflict copy, in the version (`dotKey`) that a person saw. */
export interface SettledCopy {
  readonly copy: string;
  readonly version: string;
}

/** The conflict copy as journal and disk agree on it, or why it is not the one that the person saw. Call it under the folder lock. */
export async function seenCopy(context: Context, { copy, version }: SettledCopy) {
  const current = await currentVersion(context, copy);
  if ('problem' in current) return refused('not-written', current.problem);
  const other = conditionRefusal({ is: 'versions', versions: new Set([version]) }, copy, current.operation);
  if (other !== undefined) return other;
  return 'fingerprint' in current
    ? current
    : refused('no-entry', `${copy} is gone: this conflict is already resolved.`);
}

/** Removes the conflict copy that a file settled. Its content goes to history. Call it under the folder lock. */
export async function removeCopy(
  parts: AccessParts,
  { path, settles }: { readonly path: string; readonly settles?: SettledCopy | undefined },
): Promise<Refused | undefined> {
  if (settles === undefined) return undefined;
  const refusal = await remove(parts, settles);
  return refusal && refused(refusal.code, `${path} was saved, but the conflict is not settled. ${refusal.reason}`);
}

async function remove(parts: AccessParts, settled: SettledCopy): Promise<Refused | undefined> {
  const seen = await seenCopy(parts.context, settled);
  if ('done' in seen) return seen;
  const { fingerprint: expected, operation } = seen;
  const { content } = operation;
  const action = { do: 'unlink', path: settled.copy, expected, content } as const;
  return execute(parts, [{ action, keep: content }], settled.copy);
}
