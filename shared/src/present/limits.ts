/** A rate, and the local time of the member, as `18:00`, until which it holds; absent: without an end. */
export interface LimitSpan {
  /** Absent: no limit. */
  readonly bytesPerSecond?: number | undefined;
  readonly until?: string | undefined;
}

/** The subject of a limit: one direction, to or from all members together or the member of this name. */
export interface LimitSubject {
  readonly direction: 'send' | 'receive';
  readonly member?: string | undefined;
}

const units = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
] as const;

const hundredth = new Intl.NumberFormat('en', { maximumFractionDigits: 2, useGrouping: false });

/** A limit in the units in which a person sets it: `2 MiB/s`, `1.5 GiB/s`. */
export function formatLimit(bytesPerSecond: number): string {
  const [unit, factor] = units.find(([, bytes]) => bytesPerSecond >= bytes) ?? ['B', 1];
  return `${hundredth.format(bytesPerSecond / factor)} ${unit}/s`;
}

/** `Sending to cat is limited to 2 MiB/s until 18:00, then not limited until 08:00.`; the spans follow each other. */
export function limitSentence({ direction, member }: LimitSubject, spans: readonly LimitSpan[]): string {
  const [verb, preposition] = direction === 'send' ? ['Sending', 'to'] : ['Receiving', 'from'];
  const subject = member === undefined ? verb : `${verb} ${preposition} ${member}`;
  const parts = spans.map(({ bytesPerSecond, until }) => {
    const rate = bytesPerSecond === undefined ? 'not limited' : `limited to ${formatLimit(bytesPerSecond)}`;
    return until === undefined ? rate : `${rate} until ${until}`;
  });
  return `${subject} is ${parts.join(', then ')}.`;
}
