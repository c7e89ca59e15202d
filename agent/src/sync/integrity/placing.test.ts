import { freeBytesMin } from '@lockstep/shared';
import { expect, test } from 'vitest';
import type { Context } from '../state/context.ts';
import { placingRefusal } from './placing.ts';

test('[MT43] an entry without room is refused, with the space to free', async () => {
  const health = () => Promise.resolve({ ok: true, room: { freeBytes: freeBytesMin + 500_000_000_000, inodes: 1 } });
  const context = { ignored: { ignores: () => false }, folder: { health } } as unknown as Context;
  const refusal = await placingRefusal(context, { path: 'film', isDirectory: false, size: 500_002_000_000 });
  expect(refusal).toEqual({
    isFull: true,
    reason:
      'The disk of the folder has 500 GB left, and 2 MB more are needed to put film there. Free some space first.',
  });
  expect(await placingRefusal(context, { path: 'film', isDirectory: false, size: 500_000_000_000 })).toBeUndefined();
});
