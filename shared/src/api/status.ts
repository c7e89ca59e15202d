import { z } from 'zod';
import {
  countSchema,
  limitSchema,
  list,
  memberStateSchema,
  momentSchema,
  problemSchema,
  vectorSchema,
} from './common.ts';
import { shortRuleSchema } from './copies.ts';
import { catchUpSchema, memberReportSchema } from './members.ts';

/** A long work under way, by the number of paths. */
const workSchema = z.object({ what: z.enum(['verify', 'replay']), done: countSchema, total: countSchema });

export type WorkReport = z.infer<typeof workSchema>;

/** The contents on a member that fetches them on demand. The counts are those of this run of its agent. */
const cacheReportSchema = z.object({
  usedBytes: countSchema.describe('Bytes of the files that are here, and of those that are coming.'),
  bytesMax: countSchema.describe('Bytes that they may take.'),
  files: countSchema.describe('Files of the folder that are here.'),
  remoteFiles: countSchema.describe('Files that are fetched when they are read.'),
  hits: countSchema.describe('Reads of files that were here.'),
  misses: countSchema.describe('Reads of files that had to be fetched.'),
  fetchedBytes: countSchema.describe('Bytes of the files that were fetched.'),
  droppedFiles: countSchema.describe('Files that were dropped to make room.'),
  prefetchedFiles: countSchema.describe('Files that were fetched before a reader asked for them.'),
  prefetchedBytes: countSchema.describe('Bytes of these files; fetchedBytes counts them too.'),
  prefetchHits: countSchema.describe('Reads that were the first of a prefetched file; hits counts them too.'),
  pins: list(z.string()).describe('The paths that a person keeps here, with all below them.'),
});

/** `GET /api/v1/status`: the asked member, and the cluster as it sees it. */
export const statusSchema = z
  .object({
    member: z.object({
      id: z.string(),
      name: z.string(),
      state: memberStateSchema,
      software: z.string(),
      startedAt: momentSchema.describe(
        'When its agent started, by what its clock says now, which may have been set since.',
      ),
      enabledAt: momentSchema.optional().describe('When it last became active.'),
      address: z.string().describe('`host:port` at which it listens for members.'),
      addresses: list(z.string()).describe('The addresses that it announces to the others, best first.'),
      folder: z.string().describe('Absolute path of the replicated folder.'),
      dashboard: z.string().describe('Where its dashboard and this API answer.'),
      origin: z.string().describe('The origin under which it numbers its operations.'),
    }),
    now: momentSchema.describe('The member’s clock when it answered.'),
    paused: z.boolean().describe('It was paused: it sends and applies no changes until it is resumed.'),
    synchronised: z
      .boolean()
      .describe(
        'This disk shows all that this member knows and nothing on it waits to be journaled, every member that is up holds all of it, and no member is known to know more; sessions with no member are failing; and this member is neither paused nor refused by all that it reached.',
      ),
    pending: countSchema.describe('Paths that this disk does not show yet.'),
    conflicts: countSchema.describe('Paths whose siblings no member has joined yet.'),
    conflictCopies: countSchema.describe('Conflict copies that are not settled yet.'),
    problems: list(problemSchema).describe('What is wrong now, oldest first; at most 1,000.'),
    problemCount: countSchema.describe('The number of problems, including those that the list leaves out.'),
    problemCounts: z
      .record(z.string(), countSchema)
      .optional()
      .describe('If the list leaves some out: the number of problems of each code.'),
    files: countSchema.describe('Files that are in place on this disk.'),
    directories: countSchema.describe('Directories that are in place on this disk.'),
    bytes: countSchema.describe('Bytes of the files that are in place on this disk.'),
    freeBytes: countSchema
      .optional()
      .describe(
        'Free space of the disk that the folder is on. Absent while that is not there, and until it was measured.',
      ),
    cache: cacheReportSchema.optional().describe('Of a member that fetches contents on demand; absent for others.'),
    shortRules: list(shortRuleSchema)
      .optional()
      .describe('The rules for copies that ask for more members than count now; absent when there are none.'),
    filters: z
      .object({
        members: countSchema.describe('Members that told which contents they hold.'),
        bytes: countSchema.describe('Memory for that here.'),
      })
      .optional()
      .describe('What members on demand told about their contents; absent if none did.'),
    history: z
      .object({
        versions: countSchema.describe('Replaced and deleted versions that are kept.'),
        bytes: countSchema.describe('Their space on the disk.'),
        bytesMax: countSchema.describe('The space that they may have now: less on a full disk.'),
        ageMsMax: countSchema.describe('The time that each is kept at most.'),
      })
      .optional()
      .describe('The history of this member; absent until it was counted, within a minute of the start.'),
    load: z.number().min(0).describe('Processors in use by the agent: 1 is one whole processor.'),
    operations: countSchema.describe('Operations in the journal.'),
    version: vectorSchema.describe('The operations this member knows.'),
    digest: z.string().describe('Digest of all heads, 16 hexadecimal digits.'),
    lastEvent: countSchema.describe('Number of the newest event.'),
    oldestMember: z.string().optional().describe('Id of the active member that has been active longest.'),
    catchUp: catchUpSchema.optional(),
    work: list(workSchema)
      .optional()
      .describe('Long works that were requested and are under way; absent when there are none.'),
    limits: list(limitSchema)
      .optional()
      .describe('The limits because of which contents wait now; absent when there are none.'),
    members: list(memberReportSchema).describe('All members, the one that answers first.'),
  })
  .meta({ id: 'Status' });

export type Status = z.infer<typeof statusSchema>;

/** `GET /api/v1/summary`: the part of the status that every user of the machine may read. It has no path and no address. */
export const summarySchema = statusSchema
  .pick({
    now: true,
    paused: true,
    synchronised: true,
    pending: true,
    conflicts: true,
    conflictCopies: true,
    problemCount: true,
    files: true,
    directories: true,
    bytes: true,
  })
  .extend({
    member: statusSchema.shape.member.pick({ id: true, name: true, state: true, software: true, startedAt: true }),
    members: list(memberReportSchema.pick({ id: true, name: true, state: true, condition: true, behind: true })),
  })
  .meta({ id: 'Summary' });

export type Summary = z.infer<typeof summarySchema>;

/** `GET /api/v1/join-recipe`: how another machine joins the cluster. */
export const joinRecipeSchema = z
  .object({
    lead: z.string().describe('A sentence that says where to run the commands; ends with a colon.'),
    commands: list(z.string()).describe(
      'The commands, in their order. They name a file with the key, but not the key.',
    ),
  })
  .meta({ id: 'JoinRecipe' });

export type JoinRecipe = z.infer<typeof joinRecipeSchema>;

/** `GET /healthz`: 200 when `ok`, else 503. */
export const healthSchema = z
  .object({
    ok: z.boolean(),
    state: memberStateSchema,
    detail: z.string().optional().describe('What is wrong and what to do.'),
  })
  .meta({ id: 'Health' });

export type Health = z.infer<typeof healthSchema>;
