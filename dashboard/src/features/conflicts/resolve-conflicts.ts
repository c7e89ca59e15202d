import type { Conflict, Keep, ResolveRequest, ResolveResult } from '@lockstep/shared/api';
import { askApi, sentenceOf } from '../../live/use-api.ts';

type Choice = ResolveRequest['conflicts'][number];
type Result = ResolveResult['results'][number];

/** Well below what the agent takes as one request. */
const bodyBytesMax = 32_768;

/** What a person decided about a conflict, with the versions that they saw. */
export function choiceOf({ copy, original }: Conflict, keep: Keep): Choice {
  const originalSeen = original === null ? null : `${original.origin}:${original.seq}`;
  return { copy: copy.path, keep, copySeen: `${copy.origin}:${copy.seq}`, originalSeen };
}

/** The choices in requests that are small enough. */
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

/** Has the agent settle conflicts. Answers a result for each: also where the agent does not answer. */
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
