import { z } from 'zod';
import { countSchema, list, memberConditionSchema, momentSchema } from './common.ts';

/** The times over which the history of health is shown, and the length of one beat in each. */
export const healthSpans = {
  '1h': { ms: 3_600_000, beatMs: 60_000 },
  '24h': { ms: 86_400_000, beatMs: 1_800_000 },
  '7d': { ms: 7 * 86_400_000, beatMs: 3 * 3_600_000 },
  '30d': { ms: 30 * 86_400_000, beatMs: 12 * 3_600_000 },
} as const;

export type HealthSpan = keyof typeof healthSpans;

const spanSchema = z.enum(['1h', '24h', '7d', '30d']);

export const beatsQuerySchema = z.object({ span: spanSchema.default('24h') });

/** One part of the time of a member. */
export const beatSchema = z.object({
  seconds: z
    .partialRecord(memberConditionSchema, z.number().min(0))
    .describe(
      'For how long the member was in each condition. The rest of the time is not known: the asked agent did not run.',
    ),
});

/** `GET /api/v1/health/beats`: the conditions of all members over time, as the asked member saw them. */
export const beatsSchema = z
  .object({
    from: momentSchema,
    everyMs: countSchema.describe('The length of one beat.'),
    members: list(
      z.object({ member: z.string(), beats: list(beatSchema).describe('Oldest first; the last one has begun only.') }),
    ),
  })
  .meta({ id: 'Beats' });

export const latencySpanQuerySchema = z.object({
  from: z.string().min(1).describe('Member id.'),
  to: z.string().min(1).describe('Member id.'),
  span: z.enum(['1h', '24h', '7d']).default('24h'),
});

/** `GET /api/v1/health/latency`: the round trips of one direction of one pair over a longer time. */
export const latencySpanSchema = z
  .object({
    from: momentSchema,
    until: momentSchema,
    everyMs: countSchema.describe('The length of one point.'),
    points: list(
      z.object({
        at: momentSchema.describe('The begin of the point.'),
        mean: z.number().nullable().describe('null: the two had no session.'),
        least: z.number().nullable(),
        most: z
          .number()
          .nullable()
          .describe('The longest single round trip where the asked member measured it, else the longest smoothed one.'),
      }),
    ).describe('Oldest first. A point that is absent is not known: the asked agent did not run.'),
  })
  .meta({ id: 'LatencySpan' });

/** The kinds of events in the history of health. */
export const healthEventKinds = [
  'started', // the asked agent; `awayMs`: for how long it had not run
  'stopped', // the asked agent, in order
  'joined',
  'down',
  'paused',
  'shut-down',
  'away',
  'cut-off',
  'back', // `was`, `forMs`: from what, and for how long
  'left', // `by`: at which member it was removed, if it was
  'problem', // `code`
  'problem-over', // `code`
  'conflict', // `count`: how many more
  'conflicts-settled',
] as const;

export const healthEventSchema = z
  .object({
    number: countSchema,
    at: momentSchema,
    kind: z.enum(healthEventKinds),
    member: z.string().describe('Id of the member that it is about.'),
    name: z.string().describe('Its name at that time.'),
    data: z.object({
      was: memberConditionSchema.optional(),
      forMs: countSchema.optional(),
      awayMs: countSchema.optional(),
      by: z.string().optional(),
      code: z.string().optional(),
      count: countSchema.optional(),
    }),
  })
  .meta({ id: 'HealthEvent' });

/** The most events in one answer. */
export const healthEventsMax = 200;

export const healthEventsQuerySchema = z.object({
  before: z.coerce.number().int().min(1).optional().describe('Only events with a lower number.'),
  member: z.string().min(1).optional().describe('Only events about this member.'),
  limit: z.coerce.number().int().min(1).max(healthEventsMax).default(50),
});

/** `GET /api/v1/health/events`: newest first. */
export const healthEventsSchema = z
  .object({ events: list(healthEventSchema), more: z.boolean().describe('There are older ones.') })
  .meta({ id: 'HealthEvents' });

export type Beat = z.infer<typeof beatSchema>;
export type Beats = z.infer<typeof beatsSchema>;
export type BeatsQuery = z.infer<typeof beatsQuerySchema>;
export type LatencySpan = z.infer<typeof latencySpanSchema>;
export type LatencySpanQuery = z.infer<typeof latencySpanQuerySchema>;
export type HealthEvent = z.infer<typeof healthEventSchema>;
export type HealthEventKind = HealthEvent['kind'];
export type HealthEvents = z.infer<typeof healthEventsSchema>;
export type HealthEventsQuery = z.infer<typeof healthEventsQuerySchema>;
