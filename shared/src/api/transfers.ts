import { z } from 'zod';
import { countSchema, limitSchema, list, momentSchema } from './common.ts';
import { progressSchema } from './members.ts';

/** One file whose content is on its way to the asked member. */
export const transferSchema = z.object({
  path: z.string(),
  sources: list(
    z.object({
      member: z.string(),
      name: z.string(),
      bytesPerSecond: z.number().min(0).describe('Over the last seconds.'),
    }),
  ).describe(
    'The members that it comes from, the fastest first; while nothing comes, the one that was asked last; empty during the search for one.',
  ),
  size: countSchema,
  done: countSchema.describe('Bytes that are here and verified.'),
  reused: countSchema.describe(
    'Of those the ones that this machine had already, or that are zeros: they were not sent.',
  ),
  bytesPerSecond: z.number().min(0).describe('Over the last seconds.'),
  secondsLeft: z.number().min(0).nullable().describe('At that rate; null while no bytes arrive.'),
  startedAt: momentSchema,
  waitsFor: z.string().nullable().describe('A sentence: why no bytes arrive; null while they do.'),
});

/** One file whose content is on its way from the asked member to another one. */
export const departureSchema = z.object({
  path: z.string(),
  to: z.string().describe('Id of the member that requested it.'),
  toName: z.string(),
  size: countSchema,
  sent: countSchema.describe('Bytes that were handed to the session with it.'),
  bytesPerSecond: z.number().min(0).describe('Over the last seconds.'),
  startedAt: momentSchema,
});

/** The sum of all that is on its way in one direction. */
export const trafficTotalSchema = z.object({
  left: countSchema.describe('Bytes that are missing at the receivers.'),
  bytesPerSecond: z.number().min(0).describe('The present rate through the asked member, 0 if nothing moves.'),
  secondsLeft: z
    .number()
    .min(0)
    .nullable()
    .describe('Until the last receiver has everything; null if that is not known.'),
});

/** A path that the asked member does not show yet, and why. */
export const pendingPathSchema = z.object({
  path: z.string(),
  reason: z.string().describe('A sentence.'),
});

/** A path that changed on the disk of the asked member and was not read since. */
export const changingPathSchema = z.object({
  path: z.string(),
  readInS: z
    .number()
    .min(0)
    .nullable()
    .describe('About when it is read, in seconds; later if it keeps changing. Null while it is read.'),
});

/** A member that is catching up, or lacks bytes: it gets the operations first, and the content at the same time and afterwards. */
export const resyncSchema = z.object({
  member: z.string(),
  name: z.string(),
  source: z.string().nullable().describe('Id of the member that the operations come from; null when it has them all.'),
  sourceName: z.string().nullable(),
  done: countSchema.describe('Operations that have arrived from there.'),
  total: countSchema.describe('Operations that were requested from it.'),
  pending: countSchema.describe('Paths that its disk does not show yet.'),
  progress: progressSchema.nullable().describe('Null when its disk lacks no bytes.'),
});

/** `GET /api/v1/transfers`. */
export const transfersSchema = z
  .object({
    arriving: trafficTotalSchema.describe('Into this member.'),
    reused: countSchema.describe(
      'Bytes of files written here since the agent started that were not sent: this machine had them, or they are zeros.',
    ),
    leaving: trafficTotalSchema.describe(
      'Into the other members that are heard, and what of it leaves here. Of those on demand the files on their way from here.',
    ),
    limits: list(limitSchema).describe('The limits because of which contents wait now.'),
    transfers: list(transferSchema).describe(
      'Into this member: those that move first, and of these those with the fewest bytes left.',
    ),
    departures: list(departureSchema).describe('Out of this member, in the same order.'),
    pending: countSchema.describe('Paths that this disk does not show yet.'),
    pendingPaths: list(pendingPathSchema).describe(
      'The first of them without a transfer, with the reason of each: those with a problem, then in the order in which they are fetched.',
    ),
    changing: list(changingPathSchema).describe(
      'Files that keep changing on this disk, and are not read since: a version follows. Those that are read next come first.',
    ),
    traffic: list(
      z.object({
        member: z.string(),
        name: z.string(),
        sentPerSecond: z.number().min(0).describe('Bytes of file contents from here to it.'),
        receivedPerSecond: z.number().min(0),
        queuedBytes: countSchema,
      }),
    ).describe('With each connected member, over the last seconds.'),
    resyncs: list(resyncSchema).describe(
      'All members that are catching up or lack bytes, as far as known here; this one only while it is catching up.',
    ),
  })
  .meta({ id: 'Transfers' });

/** The time for which throughput is kept, and the interval between two samples. */
export const throughputHistoryMs = 600_000;
export const throughputSampleMs = 10_000;

/** `GET /api/v1/throughput`: what the asked member journaled, received and sent in the last minutes. */
export const throughputSchema = z
  .object({
    everyMs: countSchema.describe('Time between two samples.'),
    samples: list(
      z.object({
        at: momentSchema.describe('The end of the interval.'),
        operations: countSchema.describe('Operations that were journaled in it.'),
        receivedBytes: countSchema.describe('File contents received from other members.'),
        sentBytes: countSchema.describe('File contents sent to other members.'),
      }),
    ).describe('Oldest first, at most ten minutes back, and only while the member ran.'),
  })
  .meta({ id: 'Throughput' });

export type Departure = z.infer<typeof departureSchema>;
export type TrafficTotal = z.infer<typeof trafficTotalSchema>;
export type Resync = z.infer<typeof resyncSchema>;
export type Transfer = z.infer<typeof transferSchema>;
export type Transfers = z.infer<typeof transfersSchema>;
export type Throughput = z.infer<typeof throughputSchema>;
