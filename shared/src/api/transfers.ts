import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';

/** One file whose content is on its way to the asked member. */
export const transferSchema = z.object({
  path: z.string(),
  from: z.string().nullable().describe('Id of the member that it comes from; null during the search for one.'),
  fromName: z.string().nullable(),
  size: countSchema,
  done: countSchema.describe('Bytes that have arrived and are verified.'),
  bytesPerSecond: z.number().min(0).describe('Over the last seconds.'),
  secondsLeft: z.number().min(0).nullable().describe('At that rate; null while no bytes arrive.'),
  startedAt: momentSchema,
  waitsFor: z.string().nullable().describe('A sentence: why no bytes arrive; null while they do.'),
});

/** A path that the asked member does not show yet, and why. */
export const pendingPathSchema = z.object({
  path: z.string(),
  reason: z.string().describe('A sentence.'),
});

/** A member that is catching up: it gets the operations first, and the content of the entries at the same time and afterwards. */
export const resyncSchema = z.object({
  member: z.string(),
  name: z.string(),
  source: z.string().nullable().describe('Id of the member that the operations come from; null when it has them all.'),
  sourceName: z.string().nullable(),
  done: countSchema.describe('Operations that have arrived from there.'),
  total: countSchema.describe('Operations that were requested from it.'),
  pending: countSchema.describe('Paths that its disk does not show yet.'),
});

/** `GET /api/v1/transfers`. */
export const transfersSchema = z
  .object({
    transfers: list(transferSchema).describe('Into this member, oldest first.'),
    pending: countSchema.describe('Paths that this disk does not show yet.'),
    pendingPaths: list(pendingPathSchema).describe('The first of them without a transfer, with the reason of each.'),
    traffic: list(
      z.object({
        member: z.string(),
        name: z.string(),
        sentPerSecond: z.number().min(0).describe('Bytes of file contents from here to it.'),
        receivedPerSecond: z.number().min(0),
        queuedBytes: countSchema,
      }),
    ).describe('With each connected member, over the last seconds.'),
    resyncs: list(resyncSchema).describe('All members that are catching up, as far as known here.'),
  })
  .meta({ id: 'Transfers' });

export type Resync = z.infer<typeof resyncSchema>;
export type Transfer = z.infer<typeof transferSchema>;
export type Transfers = z.infer<typeof transfersSchema>;
