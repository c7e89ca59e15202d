import { aloneKey, type Cause, downKey, type NoticeKind } from './causes.ts';

/** The record of a cause. It prevents a second notice about the same cause. */
export interface Remembered {
  readonly key: string;
  readonly kind: NoticeKind;
  readonly member: string;
  readonly text: string;
  /** When it began, as far as was seen. */
  readonly since: number;
  /** When a person was told about it; undefined while it is too young for that. */
  readonly toldAt?: number | undefined;
  /** How many there were of it when a person was told. */
  readonly count?: number | undefined;
  /** When it was first seen to be gone. Not stored: what happens while the agent does not run is not known. */
  readonly goneAt?: number | undefined;
}

/** The rules of a target. */
export interface NoticeRules {
  readonly about: readonly NoticeKind[];
  /** The time for which a member must have been down. */
  readonly afterMs: number;
  /** False for a cause of which another member tells. */
  readonly speaks: (cause: Pick<Cause, 'key'>) => boolean;
}

/** The notices to send now, and the records to store before they are sent. */
export interface Notices {
  readonly begun: readonly Remembered[];
  readonly over: readonly Remembered[];
  readonly remembered: readonly Remembered[];
}

/** A cause must have lasted this long, so that those of one moment are told together, and a flicker is not told. */
const settleMs = 10_000;

/** A cause is over when it was gone for this long: one that comes and goes is one cause. */
export const overAfterMs = 60_000;

/** More of the same (conflicts) is told again after this time. */
const againAfterMs = 600_000;

/** The time after which a cause that another member was to tell counts as told. */
const othersMs = 30_000;

/**
 * Decides what to tell a person: each cause once, and once that it is over. `hidden`: true for a cause of which nothing is known now.
 * The causes in `begun` and `over` count as told only after `afterTelling`.
 */
export function decideNotices(
  remembered: readonly Remembered[],
  causes: readonly Cause[],
  hidden: (cause: Remembered) => boolean,
  now: number,
  rules: NoticeRules,
): Notices {
  const known = new Map(remembered.map((each) => [each.key, each]));
  const present = causes
    .filter(({ kind }) => rules.about.includes(kind))
    .map((cause) => seen(known.get(cause.key), cause, now, rules));
  const keys = new Set(present.map(({ key }) => key));
  const absent = remembered
    .filter(({ key, kind }) => !keys.has(key) && rules.about.includes(kind))
    .map(
      (each): Remembered => (hidden(each) ? { ...each, goneAt: undefined } : { ...each, goneAt: each.goneAt ?? now }),
    );
  const isOver = ({ goneAt }: Remembered): boolean => goneAt !== undefined && now - goneAt >= overAfterMs;
  // A cause that was never told is forgotten at once, and needs its time again when it comes back.
  const kept = absent.filter(
    (each) => each.goneAt === undefined || (each.toldAt !== undefined && (rules.speaks(each) || !isOver(each))),
  );
  return {
    begun: present.filter((each) => rules.speaks(each) && isDue(each, causes, now, rules)),
    over: kept.filter(isOver),
    remembered: [...present, ...kept],
  };
}

/**
 * Whether the member `self` tells about a cause, and not one of `others`, the heard members that tell the same people: the one with the smallest
 * id does. A member that comes back does not know that it was down, and only the member itself knows that it was alone.
 */
export function tellsOf(self: string, others: readonly string[], { key }: Pick<Cause, 'key'>): boolean {
  return key === aloneKey(self) || others.every((other) => key === downKey(other) || self < other);
}

/** The records to store once the notices about `begun` and `over` were sent. */
export function afterTelling(
  { begun, over, remembered }: Notices,
  causes: readonly Cause[],
  now: number,
): readonly Remembered[] {
  const counts = new Map(causes.map(({ key, count }) => [key, count]));
  return remembered
    .filter((each) => !over.includes(each))
    .map((each) => (begun.includes(each) ? { ...each, toldAt: now, count: counts.get(each.key) } : each));
}

/** A cause that is there, with what is remembered of it. */
function seen(before: Remembered | undefined, cause: Cause, now: number, rules: NoticeRules): Remembered {
  const { key, kind, member, text } = cause;
  const since = Math.min(before?.since ?? now, cause.since ?? now);
  const isOthers = !rules.speaks(cause) && now - since >= waitMs(kind, rules) + othersMs;
  return {
    ...{ key, kind, member, text, since },
    toldAt: before?.toldAt ?? (isOthers ? now : undefined),
    // Some were settled: the next new one is news.
    count: isOthers ? cause.count : least(before?.count, cause.count),
  };
}

function isDue(each: Remembered, causes: readonly Cause[], now: number, rules: NoticeRules): boolean {
  if (each.toldAt === undefined) return now - each.since >= waitMs(each.kind, rules);
  const count = causes.find(({ key }) => key === each.key)?.count ?? 0;
  return count > (each.count ?? count) && now - each.toldAt >= againAfterMs;
}

function waitMs(kind: NoticeKind, { afterMs }: NoticeRules): number {
  return kind === 'down' ? afterMs : settleMs;
}

function least(before: number | undefined, count: number | undefined): number | undefined {
  return before === undefined || count === undefined ? undefined : Math.min(before, count);
}

/** The notices of one moment as one text for a person. */
export function noticeText(notices: readonly { readonly text: string }[], isOver: boolean): string {
  const shown = notices.slice(0, shownMax).map(({ text }) => text);
  const more = notices.length - shown.length;
  return `${isOver ? 'Over: ' : ''}${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

/** More notices than this are only counted in a text. */
const shownMax = 8;
