import type { RescanResult, RetryResult } from '@lockstep/shared/api';
import { formatElapsed, formatItems } from '@lockstep/shared/present';

/** The result of a rescan as a sentence. */
export function rescanSentence({ operations, elapsedMs }: RescanResult): string {
  const found = operations === 0 ? 'nothing had been missed' : `${formatItems(operations, 'change')} found and sent on`;
  return `The whole folder was compared in ${formatElapsed(elapsedMs)}: ${found}.`;
}

/** The result of a retry as a sentence. */
export function retrySentence({ paths }: RetryResult): string {
  if (paths === 0) return 'Members that did not answer are contacted again. No path was waiting.';
  return `Members that did not answer are contacted again, and ${formatItems(paths, 'path')} ${paths === 1 ? 'is' : 'are'} retried.`;
}

/** The consequences of a pause. `connected`: the number of members with which there is a session. */
export function pauseWarning(name: string, connected: number): string {
  const cut =
    connected === 0
      ? `${name} has no session with another member now.`
      : `${name} ends its ${connected === 1 ? 'session with the other member' : `sessions with ${connected} members`}.`;
  return `${cut} Changes by others do not arrive here, and changes made here reach them only after it is resumed.`;
}
