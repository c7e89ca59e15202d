import type { ApiError, Conflict, Keep, ResolveRequest, ResolveResult } from '@lockstep/shared/api';
import { apiPrefix, askApi, sentenceOf } from '../../live/use-api.ts';

type Choice = ResolveRequest['conflicts'][number];
type Result = ResolveResult['results'][number];

/** Well below the agent's limit for the body of a request. */
const bodyBytesMax = 32_768;

/** A person's decision about a conflict, with the versions that they saw. */
export function choiceOf({ copy, original }: Conflict, keep: Keep): Choice {
  const originalSeen = original === null ? null : `${original.origin}:${original.seq}`;
  return { copy: copy.path, keep, copySeen: `${copy.origin}:${copy.seq}`, originalSeen };
}

/** The choices in batches, each small enough for one request. */
export function batchesOf(choices: readonly Choice[], bytesMax = bodyBytesMax): readonly (readonly Choice[])[] {
  const batches: Choice[][] = [];
  let left = 0;
  for (const choice of choices) {
    const bytes = new TextEncoder().encode(JSON.stringify(choice)).length + 1;
    if (bytes > left) {
      batches.push([]);
      left = bytesMax;
    }
    batches.at(-1)?.push(choice);
    left -= bytes;
  }
  return batches;
}

/** Asks the agent to settle conflicts. Returns a result for each, also if the agent does not answer. */
export async function askResolve(choices: readonly Choice[]): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const conflicts of batchesOf(choices)) {
    try {
      const answer = await askApi<ResolveResult>('/conflicts/resolve', { method: 'POST', body: { conflicts } });
      results.push(...answer.results);
    } catch (error) {
      results.push(...conflicts.map(({ copy }) => ({ copy, done: false, reason: sentenceOf(error) })));
    }
  }
  return results;
}

/** Asks the agent to settle a conflict by a content that replaces both versions. Returns its result, also if the agent does not answer. */
export async function askMerge(conflict: Conflict, content: Uint8Array<ArrayBuffer>): Promise<Result> {
  const { copy, copySeen, originalSeen } = choiceOf(conflict, 'both');
  const query = new URLSearchParams({ copy, copySeen, originalSeen: originalSeen ?? '' });
  try {
    const response = await fetch(`${apiPrefix}/conflicts/merged?${query}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: content,
    });
    if (response.ok) return { copy, done: true };
    const answer = (await response.json()) as ApiError;
    return { copy, done: false, reason: answer.error.message };
  } catch (error) {
    return { copy, done: false, reason: sentenceOf(error) };
  }
}
