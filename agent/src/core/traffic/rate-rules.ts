export const minutesPerDay = 1_440;

/** Hours of each day by the local time: from a minute inclusive to a minute exclusive. They cross midnight if `to` is not above `from`. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** A limit that a person set. */
export interface RateRule {
  readonly bytesPerSecond: number;
  /** Absent: it always holds. */
  readonly hours?: Hours | undefined;
  /** The name of the one member that it limits; absent: it limits all members together. */
  readonly member?: string | undefined;
}

/** A rate, and the minute of the local day at which another one follows, if one does. */
export interface RateSpan {
  /** Infinite without a limit. */
  readonly bytesPerSecond: number;
  readonly until: number | undefined;
}

function holds({ hours }: RateRule, minute: number): boolean {
  if (hours === undefined) return true;
  const { from, to } = hours;
  return from < to ? from <= minute && minute < to : from <= minute || minute < to;
}

/** The rate at this minute of the local day, for this member alone or for all together: the lowest of the rules that hold. */
export function rateAt(rules: readonly RateRule[], minute: number, member?: string): number {
  const rates = rules.filter((rule) => rule.member === member && holds(rule, minute));
  return Math.min(Number.POSITIVE_INFINITY, ...rates.map(({ bytesPerSecond }) => bytesPerSecond));
}

/** The rates of a whole day that begins at this minute, in their order; the first one returns after the last. */
export function rateSpans(
  rules: readonly RateRule[],
  minute: number,
  member?: string,
): readonly [RateSpan, ...RateSpan[]] {
  const bounds = new Set(
    rules.flatMap(({ hours }) => (hours === undefined ? [] : [hours.from % minutesPerDay, hours.to % minutesPerDay])),
  );
  // A bound at this minute comes last: it begins what holds now.
  const later = (bound: number): number => (bound - minute - 1 + minutesPerDay) % minutesPerDay;
  const spans: RateSpan[] = [];
  let bytesPerSecond = rateAt(rules, minute, member);
  for (const bound of [...bounds].sort((a, b) => later(a) - later(b))) {
    const next = rateAt(rules, bound, member);
    if (next === bytesPerSecond) continue;
    spans.push({ bytesPerSecond, until: bound });
    bytesPerSecond = next;
  }
  const [first, ...others] = spans;
  return first === undefined ? [{ bytesPerSecond, until: undefined }] : [first, ...others];
}

/** The names of the members that rules limit one by one, in the order of the rules. */
export function limitedMembers(rules: readonly RateRule[]): readonly string[] {
  return [...new Set(rules.flatMap(({ member }) => (member === undefined ? [] : [member])))];
}
