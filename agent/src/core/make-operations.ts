import type { Operation, OriginId } from '@lockstep/shared';
import { clockSkewMsMax } from '@lockstep/shared';
import { mergeStamp, nextStamp } from './hlc.ts';
import type { Draft } from './local-change.ts';
import { nextVersion, ownNumbersNeeded } from './version.ts';

/** Operations of one origin that follow each other get different stamps, even where their parents' stamp is the same. */
const tellApart = 512;

/**
 * Numbers and stamps drafts, in their order, as operations of `origin` from `firstSeq` on. `standing` gives the heads of a path;
 * each path may occur once. `lastStamp`: the origin's newest stamp; `wallMs`: the wall clock.
 */
export function makeOperations(
  drafts: readonly Draft[],
  context: {
    readonly origin: OriginId;
    readonly firstSeq: number;
    readonly lastStamp: number;
    readonly wallMs: number;
    readonly standing: (path: string) => readonly Operation[];
    /** The origin's own operations at a path with a number above `after`. */
    readonly ownAt: (path: string, after: number) => readonly Operation[];
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
    // A stamp that its parents put far ahead does not move the clock, so others may be put to the same place: conflict copies are
    // named by stamp, and their names must differ.
    const hlc = stamp > own && stamp > merged ? Math.min(stamp + (seq % tellApart), Number.MAX_SAFE_INTEGER) : stamp;
    last = Math.max(own, merged);
    const heads = context.standing(draft.path);
    const needed = ownNumbersNeeded(origin, draft.parents, heads);
    const others = needed === undefined ? heads : [...heads, ...context.ownAt(draft.path, needed)];
    let group: number | undefined;
    if (draft.groupPath !== undefined) {
      // A span counts from its own operation: what came under the same name before is another group.
      const begins = draft.span !== undefined;
      group = begins ? seq : (opened.get(draft.groupPath) ?? context.groupOf(draft.groupPath) ?? seq);
      opened.set(draft.groupPath, group);
    }
    return withoutUndefined({
      origin,
      seq,
      hlc,
      kind: draft.kind,
      path: draft.path,
      version: nextVersion({ origin, seq }, draft.parents, others),
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
    });
  });
  return { operations, lastStamp: last };
}

type WithUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Optional fields that are undefined are left out: an operation is the same value before and after it travelled. */
export function withoutUndefined(operation: WithUndefined<Operation>): Operation {
  return Object.fromEntries(
    Object.entries(operation).filter(([, value]) => value !== undefined),
  ) as unknown as Operation;
}
