import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';
import { pageItemsDefault, pageItemsMax } from './operations.ts';

/** An event that a person should see. The fields of `data` depend on `kind`; readers skip unknown kinds. */
export const apiEventSchema = z
  .object({
    number: countSchema.describe('Without gaps, so that a reader can resume.'),
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

/** A message of `GET /api/v1/events/live` (a WebSocket), sent as one text message. */
export const liveMessageSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('event'), event: apiEventSchema }),
    z
      .object({ type: z.literal('gap'), oldest: countSchema })
      .describe(
        'The events after the requested number are no longer kept (or never existed): the stream continues with `oldest`.',
      ),
    z
      .object({ type: z.literal('live'), last: countSchema })
      .describe('Sent once: all older events have been sent; later ones are sent as they happen.'),
  ])
  .meta({ id: 'LiveMessage' });

export type ApiEvent = z.infer<typeof apiEventSchema>;
export type EventsQuery = z.infer<typeof eventsQuerySchema>;
export type EventsPage = z.infer<typeof eventsPageSchema>;
export type LiveMessage = z.infer<typeof liveMessageSchema>;
