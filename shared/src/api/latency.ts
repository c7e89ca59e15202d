import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';

/** The time for which round trips are kept, and the interval between two samples. */
export const latencyHistoryMs = 3_600_000;
export const latencySampleMs = 10_000;

/** One direction of a pair of members: the round trip that `from` measured to `to`. */
export const latencySchema = z
  .object({
    from: z.string().describe('Id of the member that measured.'),
    to: z.string(),
    rttMs: z.number().nullable().describe('Smoothed round trip now; null if there is no session between the two.'),
    at: momentSchema
      .nullable()
      .describe('When it was last known, by the clock of the asked member; null if it never was.'),
  })
  .meta({ id: 'Latency' });

/** `GET /api/v1/latencies`: the whole matrix as known to the asked member. */
export const latenciesSchema = z
  .object({
    latencies: list(latencySchema).describe('Every ordered pair of members that have not left.'),
  })
  .meta({ id: 'Latencies' });

export const latencyHistoryQuerySchema = z.object({
  from: z.string().min(1).describe('Member id.'),
  to: z.string().min(1).describe('Member id.'),
});

/** `GET /api/v1/latencies/history`: one direction of one pair over the last hour. */
export const latencyHistorySchema = z
  .object({
    from: z.string(),
    to: z.string(),
    everyMs: countSchema.describe('Time between two samples.'),
    samples: list(
      z.object({ at: momentSchema, rttMs: z.number().nullable().describe('null: they had no session.') }),
    ).describe('Oldest first, at most an hour back. Only samples that reached the asked member while it ran.'),
  })
  .meta({ id: 'LatencyHistory' });

/** `GET /api/v1/latencies/recent`: for each other member, the round trips from the asked one over the last hour, thinned for small charts. */
export const recentLatenciesSchema = z
  .object({
    everyMs: countSchema,
    members: list(z.object({ member: z.string(), samples: list(z.number().nullable()).describe('Oldest first.') })),
  })
  .meta({ id: 'RecentLatencies' });

export type Latency = z.infer<typeof latencySchema>;
export type Latencies = z.infer<typeof latenciesSchema>;
export type LatencyHistoryQuery = z.infer<typeof latencyHistoryQuerySchema>;
export type LatencyHistory = z.infer<typeof latencyHistorySchema>;
export type RecentLatencies = z.infer<typeof recentLatenciesSchema>;
