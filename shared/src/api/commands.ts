import { z } from 'zod';
import { membersMax } from '../limits.ts';
import { countSchema, list } from './common.ts';

/** The longest time that one request may wait. */
export const waitTimeoutMsMax = 24 * 3_600_000;

/** The number of blocking paths and differences that are listed; the rest is counted. */
export const listedPathsMax = 100;

export const waitRequestSchema = z.object({
  path: z.string().min(1).optional().describe('Only this path and the paths below it.'),
  for: z
    .union([z.enum(['all', 'majority']), z.int().min(1).max(membersMax)])
    .default('all')
    .describe('The number of members on which it must be durable, this one included. Members that are down count.'),
  timeoutMs: z.int().min(0).max(waitTimeoutMsMax).default(60_000),
});

/** `POST /api/v1/wait`: waits for everything that was on this disk before the request, noticed or not. */
export const waitResultSchema = z
  .object({
    done: z.boolean(),
    wanted: countSchema.describe('Members that must hold it, this one included.'),
    holding: countSchema.describe('Members that hold all of it now, this one included.'),
    members: countSchema.describe('Members of the cluster.'),
    elapsedMs: z.number().min(0),
    byCopies: z
      .literal(true)
      .optional()
      .describe(
        'No member has the whole folder: members count that know of it, and each content must be on as many as copies are wanted.',
      ),
    copies: countSchema
      .optional()
      .describe(
        'A rule wants more copies than members have the whole folder: each content must be on as many members as copies are wanted, which is this number at most.',
      ),
    whole: countSchema
      .optional()
      .describe(
        'Members with the whole folder, if others fetch contents on demand and the wait for all or a majority counts the former alone.',
      ),
    blocking: list(
      z.object({
        path: z.string().optional().describe('Absent if an entry of the member list is missing.'),
        member: z.string().optional().describe('Member id.'),
        memberName: z.string().optional(),
        reason: z.string().describe('A sentence: what is missing on which member, and why.'),
      }),
    ).describe(`The reasons why it still waited; at most ${listedPathsMax}. Empty when done.`),
  })
  .meta({ id: 'WaitResult' });

/** `POST /api/v1/leave`: answers once the retirement is journaled; the agent then closes its sessions and stops. */
export const leaveRequestSchema = z
  .object({ anyway: z.boolean().default(false).describe('Also if some files are on this member only.') })
  .nullish();

export const leaveResultSchema = z
  .object({ told: list(z.string()).describe('Names of the members that already hold the retirement.') })
  .meta({ id: 'LeaveResult' });

/** `POST /api/v1/members/remove`. */
export const removeMemberRequestSchema = z.object({
  member: z.string().min(1).describe('Its name, or the start of its id.'),
  undo: z.boolean().optional().describe('Take it back instead.'),
});

export const removeMemberResultSchema = z
  .object({
    name: z.string(),
    told: list(z.string()).describe('Names of the other members that already hold it.'),
  })
  .meta({ id: 'RemoveMemberResult' });

/** `POST /api/v1/replay`. */
export const replayRequestSchema = z.object({
  into: z
    .string()
    .min(1)
    .describe('Absolute path, on the agent’s machine, of a directory that is empty or does not exist.'),
});

export const replayResultSchema = z
  .object({
    files: countSchema,
    directories: countSchema,
    symlinks: countSchema,
    bytes: countSchema,
    missing: list(z.object({ path: z.string(), content: z.string().optional(), reason: z.string() })).describe(
      'Entries that could not be rebuilt: no member has the content any more, or the disk reported an error.',
    ),
    elapsedMs: z.number().min(0),
  })
  .meta({ id: 'ReplayResult' });

const comparisonSchema = z.object({
  compared: countSchema,
  differing: countSchema,
  paths: list(z.object({ path: z.string(), reason: z.string() })).describe(
    `The paths that differ; at most ${listedPathsMax}.`,
  ),
});

/** The body of `POST /api/v1/verify`. */
export const verifyRequestSchema = z.object({
  repair: z
    .boolean()
    .default(false)
    .describe('Replace wrong heads, and fetch files that are damaged on this disk from other members.'),
});

/** `POST /api/v1/verify`: the journal replayed and compared with its heads, and the disk with the content ids. */
export const verifyResultSchema = z
  .object({
    ok: z.boolean(),
    heads: comparisonSchema,
    disk: comparisonSchema,
    repair: z
      .object({
        repaired: countSchema.describe('Paths that differed and agree now.'),
        left: countSchema.describe('Paths that still differ.'),
        paths: list(z.object({ path: z.string(), reason: z.string() })).describe(
          `Those that still differ; at most ${listedPathsMax}.`,
        ),
      })
      .optional()
      .describe('Only if a repair was requested. `ok` then says whether nothing is left.'),
    elapsedMs: z.number().min(0),
  })
  .meta({ id: 'VerifyResult' });

/** `POST /api/v1/rescan`: answers when the whole folder has been compared with the journal. */
export const rescanResultSchema = z
  .object({
    operations: countSchema.describe('Operations journaled for what the scan found.'),
    elapsedMs: z.number().min(0),
  })
  .meta({ id: 'RescanResult' });

export type WaitRequest = z.infer<typeof waitRequestSchema>;
export type WaitResult = z.infer<typeof waitResultSchema>;
export type RemoveMemberRequest = z.infer<typeof removeMemberRequestSchema>;
export type RemoveMemberResult = z.infer<typeof removeMemberResultSchema>;
export type LeaveRequest = z.infer<typeof leaveRequestSchema>;
export type LeaveResult = z.infer<typeof leaveResultSchema>;
export type ReplayRequest = z.infer<typeof replayRequestSchema>;
export type ReplayResult = z.infer<typeof replayResultSchema>;
export type VerifyRequest = z.infer<typeof verifyRequestSchema>;
export type VerifyResult = z.infer<typeof verifyResultSchema>;
export type RescanResult = z.infer<typeof rescanResultSchema>;
