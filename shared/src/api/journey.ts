import { z } from 'zod';
import { countSchema, fileTimeSchema, list, memberConditionSchema, momentSchema } from './common.ts';
import { loggedOperationSchema } from './operations.ts';

export const liveOperationsQuerySchema = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Resume after this row of the log; without it: from now on.'),
});

/** The most operations in one message of the live stream of operations. */
export const liveOperationsMax = 500;

/** A message of `GET /api/v1/ops/live` (a WebSocket), sent as one text message. */
export const liveOperationsMessageSchema = z
  .discriminatedUnion('type', [
    z
      .object({ type: z.literal('operations'), operations: list(loggedOperationSchema) })
      .describe('In the order of their rows, without gaps.'),
    z
      .object({ type: z.literal('live'), last: countSchema })
      .describe('Sent once: all older rows have been sent; later ones are sent as they are journaled.'),
  ])
  .meta({ id: 'LiveOperationsMessage' });

export const journeyParamsSchema = z.object({
  origin: z.string().min(1),
  seq: z.coerce.number().int().min(1),
});

/** One member on the way of an operation. Moments by the clock of the asked member; null if not known, or not any more. */
export const journeyStopSchema = z.object({
  member: z.string(),
  name: z.string(),
  condition: memberConditionSchema,
  pushedAt: momentSchema.nullable().describe('When the asked member sent it there; null if another one did.'),
  receivedAt: momentSchema.nullable().describe('When the asked member learned that it is in that member’s journal.'),
  appliedAt: momentSchema
    .nullable()
    .describe('When the asked member learned that it is durable on that member’s disk.'),
  received: z.boolean(),
  applied: z.boolean(),
  onDemand: z
    .literal(true)
    .optional()
    .describe('It fetches contents on demand: it has the names, and this file or not.'),
});

/** `GET /api/v1/ops/{origin}/{seq}`: one operation and its journey. */
export const journeySchema = z
  .object({
    operation: loggedOperationSchema,
    writtenAt: fileTimeSchema.nullable().describe('The modification time of the file; null if it is not a file.'),
    madeAt: momentSchema.describe('When its author journaled it, by the hybrid logical clock.'),
    stops: list(journeyStopSchema).describe('All members that have not left, its author first.'),
    holding: countSchema.describe(
      'The number of members that hold it durably, without those that fetch contents on demand.',
    ),
    members: countSchema.describe('The number of members that are to hold it.'),
  })
  .meta({ id: 'Journey' });

export type LiveOperationsMessage = z.infer<typeof liveOperationsMessageSchema>;
export type JourneyStop = z.infer<typeof journeyStopSchema>;
export type Journey = z.infer<typeof journeySchema>;
