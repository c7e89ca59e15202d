import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';
import { pageItemsDefault, pageItemsMax } from './operations.ts';

/** Something a person should see. What `data` holds depends on `kind`; readers skip kinds they do not know. */
export const apiEventSchema = z
  .object({
    number: countSchema.describe('Without gaps, so that a reader can go on where it stopped.'),
    at: momentSchema,
    kind: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });

export const eventsQuerySchema = z.object({
  after: z.coerce.number().int().min(0).default(0).describe('Only events with a higher number.'),
  limit: z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault),
});

/** `GET /api/v1/events`: oldest first. */
export const eventsPageSchema = z
  .object({
    events: list(apiEventSchema),
    oldest: countSchema.describe('Number of the oldest event that is still kept; `last` + 1 when none is.'),
    last: countSchema.describe('Number of the newest event; 0 when there never was one.'),
  })
  .meta({ id: 'EventsPage' });

export const liveQuerySchema = z.object({
  after: z.coerce.number().int().min(0).optional().describe('Resume after this event; without it: from now on.'),
});

/** What `GET /api/v1/events/live` (a WebSocket) sends, each as one text message. */
export const liveMessageSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('event'), event: apiEventSchema }),
    z
      .object({ type: z.literal('gap'), oldest: countSchema })
      .describe('The events after the asked number are not kept any more (or never were): it goes on with `oldest`.'),
    z
      .object({ type: z.literal('live'), last: countSchema })
      .describe('Sent once: all older events have been sent, and what follows happens now.'),
  ])
  .meta({ id: 'LiveMessage' });

export type ApiEvent = z.infer<typeof apiEventSchema>;
export type EventsQuery = z.infer<typeof eventsQuerySchema>;
export type EventsPage = z.infer<typeof eventsPageSchema>;
export type LiveMessage = z.infer<typeof liveMessageSchema>;
