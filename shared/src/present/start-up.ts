import type { Progress } from '../api.ts';
import { progressText } from './progress.ts';
import { formatCount, formatItems, formatNames } from './units.ts';

/** How far the start of a member has come. */
export interface StartUp {
  readonly phase: 'listening' | 'greeting' | 'pulling' | 'scanning' | 'applying' | 'active' | 'leaving';
  /** The operations that are being received, and the name of the member that sends them. */
  readonly catchUp: { readonly source: string; readonly done: number; readonly total: number } | undefined;
  /** Files of this disk that the journal knows. */
  readonly files: number;
  /** Paths that are still to be compared with the journal. */
  readonly unsettled: number;
  /** Paths that this disk does not show yet. */
  readonly pending: number;
  /** Bytes that arrive; undefined if none are missing. */
  readonly progress: Progress | undefined;
  /** Names of the members that send contents. */
  readonly sources: readonly string[];
}

/** The step of a start before the member can be asked. */
export const openingText = 'opening the journal';

/** The present step of a starting member, in a few words, and after a colon its progress. Undefined once it has started. */
export function startUpText(start: StartUp): string | undefined {
  switch (start.phase) {
    case 'listening':
      return openingText;
    case 'greeting':
      return 'connecting to the other members';
    case 'pulling':
      return pullingText(start);
    case 'scanning':
      return scanningText(start);
    case 'applying':
      return applyingText(start);
    case 'active':
      return undefined;
    case 'leaving':
      return 'stopping';
  }
}

function pullingText({ catchUp }: StartUp): string {
  if (catchUp === undefined) return 'receiving operations';
  const share = catchUp.total === 0 ? '' : `: ${formatCount(catchUp.done)} of ${formatCount(catchUp.total)}`;
  return `receiving operations from ${catchUp.source}${share}`;
}

function scanningText({ files, unsettled }: StartUp): string {
  const parts = [
    ...(files > 0 ? [`${formatItems(files, 'file')} in the journal`] : []),
    ...(unsettled > 0 ? [`${formatItems(unsettled, 'path')} to compare`] : []),
  ];
  return ['checking files', parts.join(', ')].filter((part) => part !== '').join(': ');
}

function applyingText({ pending, progress, sources }: StartUp): string {
  if (progress !== undefined) {
    const from = sources.length === 0 ? '' : ` from ${formatNames(sources)}`;
    return `receiving${from}: ${progressText(progress)}`;
  }
  return pending === 0 ? 'applying changes' : `applying changes: ${formatItems(pending, 'path')} left`;
}
