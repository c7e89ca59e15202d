import { dotKey, entryType, isLive, type Operation } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';

/** The entry at a path, equal in the journal and on the disk, or why there is none that both agree on. */
export type CurrentVersion =
  | { readonly operation: undefined }
  | { readonly operation: Operation; readonly fingerprint: Fingerprint }
  | { readonly problem: string };

/** Observes `path`: the entry must be the one that the journal has. */
export async function currentVersion({ journal, folder }: Context, path: string): Promise<CurrentVersion> {
  const [visible, ...siblings] = journal.heads(path);
  if (siblings.length > 0) return { problem: `${path} has versions that are being joined now: try again in a moment.` };
  const operation = visible !== undefined && isLive(visible) ? visible : undefined;
  const row = journal.disk(path);
  if (row?.remote) return { problem: notHere(path) };
  const fingerprint = row?.fingerprint;
  const isShown = row !== undefined && !row.damaged && visible !== undefined && dotKey(row.dot) === dotKey(visible);
  if (operation ? !isShown || fingerprint === undefined : fingerprint !== undefined) {
    return { problem: `This member's disk does not show the current version of ${path} yet: try again in a moment.` };
  }
  const [seen] = await folder.observe([{ path, expected: row?.racy || row?.unconfirmed ? undefined : fingerprint }]);
  if (seen?.state === 'problem') return { problem: seen.detail };
  if (operation === undefined) return seen?.state === 'absent' ? { operation } : { problem: unseen(path) };
  // A directory's times move with its entries.
  if (seen?.state === 'directory' && entryType(operation) === 'directory') {
    return { operation, fingerprint: seen.fingerprint };
  }
  if (seen?.state === 'same' && fingerprint !== undefined) return { operation, fingerprint };
  // The file was written so recently that the fingerprint alone proves nothing: it was read again.
  if (seen?.state === 'file' && seen.content === operation.content) return { operation, fingerprint: seen.fingerprint };
  if (seen?.state === 'symlink' && seen.target === operation.target)
    return { operation, fingerprint: seen.fingerprint };
  return { problem: unseen(path) };
}

function notHere(path: string): string {
  return `${path} is not on this member, which fetches contents on demand: open it first, or do this on another member.`;
}

/** The sentence for an entry that differs from the one that a person saw. */
export function unseen(path: string): string {
  return `${path} has changed since it was shown, and was left as it is: look at it again.`;
}
