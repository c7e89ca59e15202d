import {
  carriedOperation,
  clockSkewMsMax,
  type Dot,
  type Operation,
  type OperationFault,
  type OriginId,
  operationFault,
  sendingLimits,
} from '@lockstep/shared';
import { mergeStamp, nextStamp } from './hlc.ts';
import type { Draft } from './local-change.ts';
import { marksOf } from './marks.ts';
import { nextVersion, ownNumbersNeeded } from './version.ts';

/** The number of different stamps that consecutive operations of one origin get, even if their parents' stamp is the same. */
const tellApart = 512;

/**
 * Numbers and stamps drafts, in their order, as operations of `origin` from `firstSeq` on. `headsAt` returns the heads of a path; each
 * path may occur once. `lastStamp`: the origin's newest stamp; `wallMs`: the wall clock.
 */
export function makeOperations(
  drafts: readonly Draft[],
  context: {
    readonly origin: OriginId;
    readonly firstSeq: number;
    readonly lastStamp: number;
    readonly wallMs: number;
    readonly headsAt: (path: string) => readonly Operation[];
    /** The origin's own operations at a path with a number above `after`. */
    readonly ownAt: (path: string, after: number) => readonly Operation[];
    /** The mark of the chain at this number, if it is known. */
    readonly markOf: (dot: Dot) => string | undefined;
    /** `seq` of the group that a path opened earlier, for drafts that join it. */
    readonly groupOf: (groupPath: string) => number | undefined;
  },
): { readonly operations: readonly Operation[]; readonly lastStamp: number } {
  const { origin, wallMs } = context;
  const opened = new Map<string, number>();
  let last = context.lastStamp;
  const operations = drafts.map((draft, index): Operation => {
    const seq = context.firstSeq + index;
    const own = nextStamp({ wallMs, last, parents: [] });
    const stamp = nextStamp({ wallMs, last, parents: draft.parents.map((parent) => parent.hlc) });
    const merged = mergeStamp({ last, remote: stamp, wallMs, driftMsMax: clockSkewMsMax });
    // A stamp that its parents put far ahead does not move the clock, so others may get the same one. Conflict copies are named by stamp,
    // and their names must differ.
    const drawn = stamp > own && stamp > merged ? Math.min(stamp + (seq % tellApart), Number.MAX_SAFE_INTEGER) : stamp;
    const hlc = draft.hlc ?? drawn;
    last = Math.max(own, merged);
    const heads = context.headsAt(draft.path);
    const needed = ownNumbersNeeded(origin, draft.parents, heads);
    const others = needed === undefined ? heads : [...heads, ...context.ownAt(draft.path, needed)];
    let group: number | undefined;
    if (draft.groupPath !== undefined) {
      // A span counts from its own operation: earlier operations of the same name are another group.
      const begins = draft.span !== undefined;
      group = begins ? seq : (opened.get(draft.groupPath) ?? context.groupOf(draft.groupPath) ?? seq);
      opened.set(draft.groupPath, group);
    }
    const version = nextVersion({ origin, seq }, draft.parents, others);
    const operation = withoutUndefined({
      origin,
      seq,
      hlc,
      kind: draft.kind,
      path: draft.path,
      version,
      content: draft.content,
      replaced: draft.replaced,
      size: draft.size,
      mode: draft.mode,
      mtimeUs: draft.mtimeUs,
      target: draft.target,
      from: draft.from,
      group,
      span: draft.span,
      blocks: draft.blocks,
      member: draft.member,
      keeps: draft.keeps?.map(({ origin, seq }) => ({ origin, seq })),
      marks: marksOf(origin, version, { markOf: context.markOf, parents: draft.parents }),
    });
    return carriedOperation(operation);
  });
  return { operations, lastStamp: last };
}

/** A draft that must not become an operation, and why. */
export interface RefusedDraft {
  readonly draft: Draft;
  readonly fault: OperationFault;
}

/**
 * The drafts that the other members would not accept as operations, with all drafts of the same unit. `operations` are what
 * `makeOperations` made of `drafts`, in the same order.
 */
export function refusedDrafts(drafts: readonly Draft[], operations: readonly Operation[]): readonly RefusedDraft[] {
  const units = new Map<string, OperationFault>();
  const refused = drafts.map((draft, index) => {
    const operation = operations[index];
    const fault = operation && operationFault(operation, sendingLimits);
    if (fault !== undefined && draft.unit !== undefined) units.set(draft.unit, fault);
    return { draft, fault };
  });
  return refused.flatMap(({ draft, fault }) => {
    const reason = fault ?? (draft.unit === undefined ? undefined : units.get(draft.unit));
    return reason === undefined ? [] : [{ draft, fault: reason }];
  });
}

type WithUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Leaves out the fields that are undefined: an operation is the same value before and after it is sent. */
export function withoutUndefined(operation: WithUndefined<Operation>): Operation {
  const given: Record<string, unknown> = {};
  // One object in one pass: `Object.fromEntries` of filtered entries takes ten times as long, and each operation passes here.
  for (const key in operation) {
    const value = operation[key as keyof Operation];
    if (value !== undefined) given[key] = value;
  }
  return given as unknown as Operation;
}
