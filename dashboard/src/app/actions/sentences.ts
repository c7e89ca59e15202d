import type { RescanResult, RetryResult } from '@lockstep/shared/api';
import { formatElapsed, formatItems } from '@lockstep/shared/present';

/** What a rescan found. */
export function rescanSentence({ operations, elapsedMs }: RescanResult): string {
  const found = operations === 0 ? 'nothing had been missed' : `${formatItems(operations, 'change')} found and sent on`;
  return `The whole folder was compared in ${formatElapsed(elapsedMs)}: ${found}.`;
}

/** What is tried again. */
export function retrySentence({ paths }: RetryResult): string {
  if (paths === 0) return 'Members that did not answer are called again. No path was waiting.';
  return `Members that did not answer are called again, and ${formatItems(paths, 'path')} tried again.`;
}

/** What a pause would cut: the names of the members that there is a session with. */
export function pauseWarning(name: string, connected: number): string {
  const cut =
    connected === 0
      ? `${name} has no session with anybody now.`
      : `${name} ends its ${connected === 1 ? 'session with the other member' : `sessions with ${connected} members`}.`;
  return `${cut} What others change does not arrive here, and what is changed here reaches them only after it is resumed.`;
}
