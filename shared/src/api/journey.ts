import { z } from 'zod';
import { countSchema, fileTimeSchema, list, memberStateSchema, momentSchema } from './common.ts';
import { loggedOperationSchema } from './operations.ts';

export const liveOperationsQuerySchema = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Resume after this row of the log; without it: from now on.'),
});

/** Operations in one message of the live stream of operations, at most. */
export const liveOperationsMax = 500;

/** What `GET /api/v1/ops/live` (a WebSocket) sends, each as one text message. */
export const liveOperationsMessageSchema = z
  .discriminatedUnion('type', [
    z
      .object({ type: z.literal('operations'), operations: list(loggedOperationSchema) })
      .describe('In the order of their rows, without gaps.'),
    z
      .object({ type: z.literal('live'), last: countSchema })
      .describe('Sent once: all older rows have been sent, and what follows happens now.'),
  ])
  .meta({ id: 'LiveOperationsMessage' });

export const journeyParamsSchema = z.object({
  origin: z.string().min(1),
  seq: z.coerce.number().int().min(1),
});

/** One member on the way of an operation. Moments by the clock of the asked member; null where that is not known (any more). */
export const journeyStopSchema = z.object({
  member: z.string(),
  name: z.string(),
  state: memberStateSchema,
  pushedAt: momentSchema.nullable().describe('When the asked member sent it there; null where another one did.'),
  receivedAt: momentSchema.nullable().describe('When the asked member learned that it is in that journal.'),
  appliedAt: momentSchema.nullable().describe('When the asked member learned that it is on that disk, durably.'),
  received: z.boolean(),
  applied: z.boolean(),
});

/** `GET /api/v1/ops/{origin}/{seq}`: one operation and its journey. */
export const journeySchema = z
  .object({
    operation: loggedOperationSchema,
    writtenAt: fileTimeSchema
      .nullable()
      .describe('The modification time that the file was left with, where it is a file.'),
    madeAt: momentSchema.describe('When its author journaled it, by the hybrid logical clock.'),
    stops: list(journeyStopSchema).describe('All members that have not left, its author first.'),
    holding: countSchema.describe('How many members hold it durably.'),
    members: countSchema,
  })
  .meta({ id: 'Journey' });

export type LiveOperationsMessage = z.infer<typeof liveOperationsMessageSchema>;
export type JourneyStop = z.infer<typeof journeyStopSchema>;
export type Journey = z.infer<typeof journeySchema>;
