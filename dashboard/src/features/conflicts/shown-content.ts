import type { TreeEntry } from '@lockstep/shared/api';
import { pictureType, shownBytesMax } from '@lockstep/shared/present';
import { sentenceOf } from '../../live/use-api.ts';
import { contentUrl } from '../../parts/content-url.ts';

/** The displayable content of one version. */
export type ShownContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'picture'; readonly url: string }
  | { readonly kind: 'none'; readonly reason: string };

/** Loads the content of an entry in a form that a person can compare. */
export async function loadContent(entry: TreeEntry, signal: AbortSignal): Promise<ShownContent> {
  if (entry.type === 'directory') return { kind: 'none', reason: 'A folder.' };
  if (entry.type === 'symlink') return { kind: 'none', reason: `A link to ${entry.target ?? ''}` };
  const url = contentUrl(entry);
  if (pictureType(entry.path) !== undefined) return { kind: 'picture', url };
  if ((entry.size ?? 0) > shownBytesMax(entry.path)) return { kind: 'none', reason: 'Too large to show here.' };
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) {
      const answer = (await response.json()) as { error?: { message?: string } };
      return { kind: 'none', reason: answer.error?.message ?? `The agent answered ${response.status}.` };
    }
    if (response.headers.get('content-type')?.startsWith('text/plain')) {
      // `text()` would drop a byte order mark.
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return { kind: 'text', text: decoder.decode(await response.arrayBuffer()) };
    }
    return { kind: 'none', reason: 'Neither UTF-8 text nor a picture: it is kept or replaced as a whole.' };
  } catch (error) {
    return { kind: 'none', reason: sentenceOf(error) };
  }
}
