/** What is known of a transfer that may stand still. */
export interface Standstill {
  readonly bytesPerSecond: number;
  readonly startedMs: number;
  readonly progressMs: number | undefined;
  readonly isAsked: boolean;
  readonly isFull: boolean;
}

/** A source that was asked so recently has not kept anybody waiting. */
const patienceMs = 2_000;

/** Why nothing of a transfer comes; null while something does. `source`: the name of the member that it comes from, if there is one. */
export function waitSentence(transfer: Standstill, source: string | null, nowMs: number): string | null {
  const { bytesPerSecond, startedMs, progressMs, isAsked, isFull } = transfer;
  if (isFull) return 'There is no room for it on this disk.';
  if (source === null) return 'A member that has it is looked for.';
  if (bytesPerSecond > 0) return null;
  if (!isAsked) return `Other files come from ${source} first.`;
  const silentMs = nowMs - (progressMs ?? startedMs);
  if (silentMs < patienceMs) return `${source} was asked for it just now.`;
  return `${source} has sent nothing of it for ${Math.floor(silentMs / 1_000)} s.`;
}

/** `its content is being fetched` → `Its content is being fetched.` */
export function asSentence(reason: string): string {
  const [first = ''] = reason;
  return first.toUpperCase() + reason.slice(first.length) + (/[.!?…]$/.test(reason) ? '' : '.');
}
