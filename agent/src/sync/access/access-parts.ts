import { type ContentId, isLive, type Operation, type ProblemCode } from '@lockstep/shared';
import type { Draft } from '../../core/local-change.ts';
import type { ActionRequest } from '../../core/plan/action.ts';
import { type NewEntry, placingRefusal } from '../integrity/placing.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { type Refused, refused } from './condition.ts';

/** The parts of the engine that this room uses. */
export interface AccessParts {
  readonly context: Context;
  readonly localChanges: {
    /** Journals users' changes at the path and below it; resolves with the paths that did not come to rest. */
    settleAll(path: string, giveUp: Promise<void>): Promise<{ readonly unsettled: readonly string[] }>;
    mark(path: string): void;
  };
  readonly pause: { readonly isOn: boolean };
  readonly operationWriter: { commit(drafts: readonly Draft[]): unknown };
  readonly onDemand: {
    /** Brings a file to this disk, and keeps it there. */
    hold(path: string): Promise<{ release(): void } | { readonly code: ProblemCode; readonly reason: string }>;
  };
  readonly cache: { reserve(path: string, bytes: number): Promise<Reserved | { readonly reason: string }> };
}

/** Room in the cache that was reserved. */
interface Reserved {
  end(): void;
}

/** A change that was made in the folder. `operation`: the entry at the path now; undefined while it is not journaled yet. */
export interface Done {
  readonly done: true;
  readonly isNew: boolean;
  readonly operation: Operation | undefined;
}

/** A file that a program keeps writing is not replaced. */
const settleMsMax = 10_000;

/** The time to journal a file that was just written and is read again for that: a fixed time, and the time of a slow disk for its bytes. */
const journalMsMax = 30_000;
const readBytesPerMs = 20_000;

/** The refusal of this member while it takes no changes from a person. */
export function pausedRefusal({ pause, context }: AccessParts): Refused | undefined {
  if (!pause.isOn) return undefined;
  const { name } = context.self;
  return refused('not-written', `${name} is paused: nothing would reach the other members. Resume it first.`);
}

/** The reason why no entry can be made for a person now. */
export async function entryRefusal(parts: AccessParts, entry: NewEntry): Promise<Refused | undefined> {
  const refusal = await placingRefusal(parts.context, entry);
  return refusal && refused(refusal.isFull ? 'disk-full' : 'not-written', refusal.reason);
}

/** Journals users' changes at `path` and below it. A refusal if an entry there is being written to. */
export async function settledRefusal(parts: AccessParts, path: string): Promise<Refused | undefined> {
  const [first] = await settleFor(parts, path, settleMsMax);
  if (first === undefined) return undefined;
  return refused('not-written', `${first} is being written to now: try again when that has ended.`);
}

/**
 * Journals the change at `path`. Returns the entry there, unless that takes too long. For a file this is the operation with its content,
 * because another one may have replaced it by now.
 */
export async function journaled(
  parts: AccessParts,
  path: string,
  { content, size = 0 }: { readonly content?: ContentId | undefined; readonly size?: number } = {},
): Promise<Operation | undefined> {
  const { journal } = parts.context;
  parts.localChanges.mark(path);
  const late = await settleFor(parts, path, journalMsMax + size / readBytesPerMs);
  if (late.length > 0) return undefined;
  if (content !== undefined) return journal.log.operationWith(path, content);
  const [head] = journal.heads.at(path);
  return head !== undefined && isLive(head) ? head : undefined;
}

/** The draft of the delete of a file that is not on this disk. */
export function remoteDelete(operation: Operation): Draft {
  return { path: operation.path, kind: 'delete', parents: [operation], replaced: operation.content, vanished: true };
}

/** Executes actions, under the folder lock. A refusal says why the last one was not done. */
export async function execute(
  parts: AccessParts,
  requests: readonly ActionRequest[],
  path: string,
): Promise<Refused | undefined> {
  const results = await applyActions(parts.context, requests);
  for (const { action } of requests) {
    if (action.do === 'rename' || action.do === 'rename-directory') parts.localChanges.mark(action.from);
    parts.localChanges.mark('path' in action ? action.path : action.to);
  }
  const index = results.findIndex(({ result }) => result !== 'done');
  const [failed, request] = [results[index], requests[index]];
  if (failed === undefined) return undefined;
  if (failed.result !== 'problem') {
    const reason = `${path} changed in this moment, and was left as it is: look at it again.`;
    // A directory that holds more than the journal knows is not journaled whole by another attempt.
    return { ...refused('not-written', reason), isUnjournaled: request?.action.do !== 'rename-directory' };
  }
  return refused(failed.code === 'disk-full' ? 'disk-full' : 'not-written', failed.detail);
}

function settleFor(
  { context, localChanges }: AccessParts,
  path: string,
  timeoutMs: number,
): Promise<readonly string[]> {
  let cancel = (): void => undefined;
  const giveUp = new Promise<void>((resolve) => {
    const timer = context.clock.after(timeoutMs, resolve);
    cancel = () => timer.cancel();
  });
  return localChanges
    .settleAll(path, giveUp)
    .then(({ unsettled }) => unsettled)
    .finally(() => cancel());
}
