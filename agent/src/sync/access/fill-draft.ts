import { blockBytes } from '@lockstep/shared';
import type { Draft, DraftContent } from '../ports/folder.ts';
import { type Refused, refused } from './condition.ts';

/** Writes the bytes into staging, block by block, no faster than the disk takes them. */
export async function fillDraft(
  draft: Draft,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): Promise<DraftContent | Refused> {
  const block = new Uint8Array(blockBytes);
  let length = 0;
  const add = async (): Promise<Refused | undefined> => {
    const added = await draft.add(block.subarray(0, length));
    length = 0;
    if (added === 'ok') return undefined;
    if (added === 'lost') return lost(path);
    return refused('disk-full', `There is no more room on the disk of the folder for ${path}. Free some space first.`);
  };
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + blockBytes - length);
      block.set(part, length);
      length += part.length;
      taken += part.length;
      const failure = length === blockBytes ? await add() : undefined;
      if (failure !== undefined) return failure;
    }
  }
  const failure = length > 0 ? await add() : undefined;
  return failure ?? (await draft.finish()) ?? lost(path);
}

function lost(path: string): Refused {
  return refused('not-written', `What had come of ${path} was removed from .lockstep/staging meanwhile: try again.`);
}
