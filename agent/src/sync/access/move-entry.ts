import { directoryRenameEntriesMax, entryType, isBelow, type Operation } from '@lockstep/shared';
import type { Action } from '../../core/plan/action.ts';
import type { Context } from '../state/context.ts';
import {
  type AccessParts,
  type Done,
  entryRefusal,
  execute,
  journaled,
  pausedRefusal,
  remoteDelete,
} from './access-parts.ts';
import { type Condition, conditionRefusal, type Refused, refused } from './condition.ts';
import { changeSettled, type PlaceAt } from './place.ts';

export interface MoveRequest {
  readonly path: string;
  /** The new path: nothing may be there. */
  readonly to: string;
  /** The entry at `path` as the person knows it. */
  readonly condition: Condition;
}

/** Renames an entry of the folder, a directory with all its entries. It is journaled as a user's rename. */
export async function moveEntry(parts: AccessParts, request: MoveRequest): Promise<Done | Refused> {
  const { path, to } = request;
  if (to === path) return refused('not-written', `${path} has this name already.`);
  if (isBelow(to, path)) return refused('not-written', `${path} cannot be moved into itself.`);
  const paused = pausedRefusal(parts);
  if (paused !== undefined) return paused;
  const moved = await changeSettled(parts, [path, to], (placeAt) => move(parts, request, placeAt));
  if ('done' in moved) return moved;
  // The old name first: the entry at the new one is then recognised as a rename.
  await journaled(parts, path);
  return { done: true, isNew: true, operation: await journaled(parts, to, { content: moved.content }) };
}

/** Executed under the folder lock. Resolves with the entry that was renamed. */
async function move(
  parts: AccessParts,
  { path, to, condition }: MoveRequest,
  placeAt: PlaceAt,
): Promise<Operation | Refused> {
  const { context } = parts;
  const from = await placeAt(path);
  if ('done' in from) return from;
  if (from.current.operation === undefined)
    return refused('no-entry', `There is nothing at ${path}: it was deleted or renamed.`);
  const { operation } = from.current;
  const isDirectory = entryType(operation) === 'directory';
  const target = await placeAt(to);
  if ('done' in target) return target;
  const refusal =
    conditionRefusal(condition, path, operation) ??
    conditionRefusal({ is: 'absent' }, to, target.current.operation) ??
    (await entryRefusal(parts, { path: to, isDirectory, size: 0 }));
  if (refusal !== undefined) return refusal;
  if ('isRemote' in from.current) return (await moveRemote(parts, operation, to, target.parents)) ?? operation;
  const { fingerprint } = from.current;
  const action: Action | undefined = isDirectory
    ? directoryAction(context, { from: path, to, expectedFrom: fingerprint, mode: operation.mode })
    : { do: 'rename', from: path, to, expectedFrom: fingerprint, expected: 'absent' };
  if (action === undefined) {
    return refused(
      'not-written',
      `${path} holds more than ${directoryRenameEntriesMax} entries: rename it in the folder.`,
    );
  }
  const failure = await execute(
    parts,
    [...target.parents, action].map((each) => ({ action: each })),
    path,
  );
  if (failure === undefined) return operation;
  if (!isDirectory || failure.code !== 'not-written') return failure;
  const kept = `${path} may hold entries that Lockstep does not synchronize: then rename it in the folder itself.`;
  return { ...failure, reason: `${failure.reason} ${kept}` };
}

/** The file is not on this disk: its rename is journaled, and there is nothing to do in the folder but to make the directories above. */
async function moveRemote(
  parts: AccessParts,
  operation: Operation,
  to: string,
  parents: readonly Action[],
): Promise<Refused | undefined> {
  const failure = await execute(
    parts,
    parents.map((action) => ({ action })),
    operation.path,
  );
  if (failure !== undefined) return failure;
  const { path: from, content, size, mode, mtimeUs, blocks } = operation;
  const [before] = parts.context.journal.heads.at(to);
  parts.operationWriter.commit([
    {
      ...{ path: to, kind: 'put', from, content, size, mode, mtimeUs, blocks },
      parents: before ? [before] : [],
      span: 2,
      groupPath: to,
    },
    { ...remoteDelete(operation), groupPath: to },
  ]);
  return undefined;
}

function directoryAction(
  { journal }: Context,
  {
    mode = 0o755,
    ...rename
  }: Pick<Extract<Action, { do: 'rename-directory' }>, 'from' | 'to' | 'expectedFrom'> & {
    readonly mode: number | undefined;
  },
): Action | undefined {
  const most = directoryRenameEntriesMax + 1;
  const rows = journal.disk.below(rename.from, undefined, most);
  const remote = journal.disk.remoteBelow(rename.from, undefined, most);
  if (rows.length + remote.length > directoryRenameEntriesMax) return undefined;
  const names = rows.map(({ path }) => path.slice(rename.from.length + 1));
  return { do: 'rename-directory', ...rename, names, mode };
}
