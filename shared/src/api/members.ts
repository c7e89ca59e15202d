import { z } from 'zod';
import { countSchema, list, memberConditionSchema, memberStateSchema, momentSchema, vectorSchema } from './common.ts';
import { lackingCopiesSchema } from './copies.ts';

/** A resync under way. */
export const catchUpSchema = z.object({
  source: z.string().describe('Id of the member that the operations come from.'),
  done: countSchema,
  total: countSchema,
});

/** How much of the newest contents a member has, in bytes. */
export const progressSchema = z.object({
  there: countSchema.describe('Bytes that are in place on its disk or staged there.'),
  total: countSchema.describe('Bytes of all files that it is to hold.'),
  bytesPerSecond: z
    .number()
    .min(0)
    .nullable()
    .describe(
      'The rate at which the rest arrives, as measured by the member: 0 if it has stalled, null while not known.',
    ),
  secondsLeft: z.number().min(0).nullable().describe('At that rate; null if it has stalled or is not known.'),
});

/** One member of the cluster as known to the asked member. Fields that were never received from it are absent. */
export const memberReportSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    self: z.boolean().describe('True for the member that answers.'),
    state: memberStateSchema,
    stateSince: momentSchema
      .optional()
      .describe(
        'When it took that state, as far as the asked member saw: not before its own agent started, unless it left.',
      ),
    condition: memberConditionSchema,
    mayBeAway: z.literal(true).optional().describe('A person said that its machine is off at times.'),
    onDemand: z.literal(true).optional().describe('It fetches contents on demand, and has those of some files only.'),
    removedBy: z.string().optional().describe('Name of the member at which it was removed from the cluster.'),
    connected: z.boolean().describe('A session with it is open. True for the member that answers.'),
    via: z.string().optional().describe('Id of the member that passes on what it says, while it is cut off from here.'),
    rttMs: z.number().nullable().describe('Smoothed round trip from here; null if there is none (itself, down).'),
    behind: countSchema.describe('Operations that the asked member knows and this one does not hold durably.'),
    behindSeconds: z.number().min(0).describe('Age of the oldest of these operations; 0 when it lacks none.'),
    addresses: list(z.string()).describe('Where it listens for members, best first.'),
    lastError: z
      .string()
      .optional()
      .describe('A sentence: why the last session with it ended. Absent while one is open.'),
    remote: z.string().optional().describe('The other end of the session.'),
    software: z.string().optional(),
    enabledAt: momentSchema.optional().describe('When it last became active.'),
    lastSeenAt: momentSchema.optional().describe('When it was last heard from, by the clock of the asked member.'),
    clockSkewMs: z.number().optional().describe('How far its clock is ahead of the asked member’s.'),
    pending: countSchema.optional().describe('Paths that its disk does not show yet.'),
    problems: countSchema.optional().describe('The number of its problems; its own status lists them.'),
    worstProblem: z.string().optional().describe('Code of the worst of its problems; absent when it has none.'),
    files: countSchema.optional().describe('Files that are in place on its disk.'),
    bytes: countSchema.optional().describe('Bytes of these files.'),
    progress: progressSchema.optional().describe('Absent when its disk lacks no bytes, and while it is not heard.'),
    lackingCopies: lackingCopiesSchema
      .optional()
      .describe('Copies that it keeps for the cluster and does not have yet.'),
    freeBytes: countSchema.optional(),
    load: z.number().min(0).optional().describe('Processors in use by its agent: 1 is one whole processor.'),
    version: vectorSchema.optional().describe('The operations it knows.'),
    digest: z.string().optional().describe('Digest of its heads: it must be equal on members with an equal `version`.'),
    catchUp: catchUpSchema.optional(),
    latenciesMs: z
      .record(z.string(), z.number())
      .optional()
      .describe('Smoothed round trips that it measured itself, by member id: one row of the latency matrix.'),
    queuedBytes: countSchema.optional().describe('Bytes waiting here to be sent to it.'),
    sentBytes: countSchema.optional().describe('File contents sent to it since the agent started.'),
    receivedBytes: countSchema.optional().describe('File contents received from it since the agent started.'),
  })
  .meta({ id: 'MemberReport' });

export const membersSchema = z
  .object({
    members: list(memberReportSchema).describe(
      'All members, those that left included: the one that answers first, then by name.',
    ),
  })
  .meta({ id: 'Members' });

export type CatchUp = z.infer<typeof catchUpSchema>;
export type Progress = z.infer<typeof progressSchema>;
export type MemberReport = z.infer<typeof memberReportSchema>;
export type Members = z.infer<typeof membersSchema>;
