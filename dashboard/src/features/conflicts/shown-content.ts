import type { TreeEntry } from '@lockstep/shared/api';
import { apiPrefix, sentenceOf } from '../../live/use-api.ts';
import { encodePath } from '../../parts/links.ts';

/** Larger texts are not requested; the agent does not serve them. */
const textBytesMax = 2 * 1_048_576;

const pictureName = /\.(avif|bmp|gif|ico|jpe?g|png|webp)$/i;

/** The displayable content of one version. */
export type ShownContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'picture'; readonly url: string }
  | { readonly kind: 'none'; readonly reason: string };

/** The URL at which the agent serves the bytes of exactly this version. */
export function contentUrl({ path, origin, seq }: TreeEntry): string {
  return `${apiPrefix}/content/${encodePath(path)}?version=${encodeURIComponent(`${origin}:${seq}`)}`;
}

/** Loads the content of an entry in a form that a person can compare. */
export async function loadContent(entry: TreeEntry, signal: AbortSignal): Promise<ShownContent> {
  if (entry.type === 'directory') return { kind: 'none', reason: 'A directory.' };
  if (entry.type === 'symlink') return { kind: 'none', reason: `A link to ${entry.target ?? ''}` };
  const url = contentUrl(entry);
  if (pictureName.test(entry.path)) return { kind: 'picture', url };
  if ((entry.size ?? 0) > textBytesMax) return { kind: 'none', reason: 'Too large to show here.' };
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) {
      const answer = (await response.json()) as { error?: { message?: string } };
      return { kind: 'none', reason: answer.error?.message ?? `The agent answered ${response.status}.` };
    }
    if (response.headers.get('content-type')?.startsWith('text/plain')) {
      return { kind: 'text', text: await response.text() };
    }
    return { kind: 'none', reason: 'Neither text nor a picture.' };
  } catch (error) {
    return { kind: 'none', reason: sentenceOf(error) };
  }
}
