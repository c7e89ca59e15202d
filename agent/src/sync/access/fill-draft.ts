import { blockBytes } from '@lockstep/shared';
import type { Draft, DraftContent } from '../ports/folder.ts';
import { type Refused, refused } from './condition.ts';

/** The bytes that a draft has already, of which a part is replaced. */
export interface Overwritten {
  /** The first byte that is replaced. */
  readonly start: number;
  /** A block of these bytes: empty if it begins after their end. */
  readonly block: (index: number) => Promise<Uint8Array | Refused>;
}

const nothing: Overwritten = { start: 0, block: async () => new Uint8Array() };

/** Writes the bytes into a draft, block by block, no faster than the disk takes them. */
export async function fillDraft(
  draft: Draft,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  { start, block: blockBefore }: Overwritten = nothing,
): Promise<DraftContent | Refused> {
  const block = new Uint8Array(blockBytes);
  let index = Math.floor(start / blockBytes);
  let length = 0;
  const add = async (): Promise<Refused | undefined> => {
    const failure = fillFailure(await draft.add(block.subarray(0, length), index), path);
    index++;
    length = 0;
    return failure;
  };
  /** Takes the bytes of the block from `length` to `end` as they were. */
  const keep = async (end: number): Promise<Refused | undefined> => {
    const before = await blockBefore(index);
    if ('done' in before) return before;
    const kept = before.subarray(length, end);
    block.set(kept, length);
    length += kept.length;
    return undefined;
  };
  const first = start % blockBytes > 0 ? await keep(start % blockBytes) : undefined;
  if (first !== undefined) return first;
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
  const last = length > 0 ? ((await keep(blockBytes)) ?? (await add())) : undefined;
  return last ?? (await draft.finish()) ?? lost(path);
}

/** The reason why bytes could not be added to a draft. */
export function fillFailure(outcome: 'ok' | 'disk-full' | 'lost' | 'source-gone', path: string): Refused | undefined {
  switch (outcome) {
    case 'ok':
      return undefined;
    case 'lost':
      return lost(path);
    case 'source-gone':
      return changedFile(path);
    case 'disk-full':
      return refused(
        'disk-full',
        `There is no more room on the disk of the folder for ${path}. Free some space first.`,
      );
  }
}

/** The refusal for a file whose bytes are not those that the journal has. */
export function changedFile(path: string): Refused {
  const reason = `${path} changed in this moment, or its bytes are damaged: try again in a moment.`;
  return { ...refused('not-written', reason), isUnjournaled: true };
}

function lost(path: string): Refused {
  return refused('not-written', `What had come of ${path} was removed from .lockstep/staging meanwhile: try again.`);
}
