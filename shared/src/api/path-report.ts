import { z } from 'zod';
import { countSchema, fileTimeSchema, list, memberConditionSchema, problemSchema } from './common.ts';
import { loggedOperationSchema, operationReportSchema } from './operations.ts';

/** `GET /api/v1/paths/*`: the knowledge of the asked member about one path. */
export const pathReportSchema = z
  .object({
    path: z.string(),
    known: z.boolean().describe('An operation on it was ever journaled here, or an entry is there on the disk.'),
    ignored: z.boolean().describe('A rule of .lockstepignore keeps it out of the replication.'),
    heads: list(operationReportSchema).describe('The operations that no other supersedes, the current one first.'),
    disk: z
      .object({
        type: z.enum(['file', 'directory', 'symlink', 'absent']),
        size: countSchema.optional(),
        mode: countSchema.optional(),
        mtimeMs: fileTimeSchema.optional(),
        origin: z.string().describe('Origin of the operation that the disk shows.'),
        seq: countSchema,
      })
      .nullable()
      .describe('The entry that this member last wrote or saw there; null if there never was one.'),
    remote: z.boolean().describe('The asked member fetches the file from another one when it is read.'),
    changing: z
      .literal(true)
      .optional()
      .describe('Its entry on the disk may have changed, and is not read yet, or cannot be: a new version may follow.'),
    pending: z.boolean().describe('The disk does not show the visible head yet.'),
    behind: countSchema.describe('Operations on any path that another member knows and the asked one does not.'),
    waitsFor: list(
      z.object({
        member: z.string().optional().describe('Id of the member it waits for.'),
        reason: z.string().describe('A sentence: what must happen.'),
      }),
    ).describe('Why it is pending, or not on all members yet; empty when nothing is missing.'),
    holders: list(
      z.object({
        member: z.string(),
        name: z.string(),
        condition: memberConditionSchema,
        holds: z.boolean().describe('It holds all heads of the path durably.'),
        onDemand: z
          .literal(true)
          .optional()
          .describe('It fetches contents on demand; it was asked whether it has this one.'),
        unknown: z
          .literal(true)
          .optional()
          .describe('It fetches on demand, and could not be asked or did not answer; or it has left.'),
        had: z
          .literal(true)
          .optional()
          .describe('It could not be asked, and had the content when it was last connected; 1 % of these are wrong.'),
      }),
    ).describe(
      'All members that have not left, and if none of them holds a file, those that left and may have it; empty when no operation on it is known.',
    ),
    copies: z
      .object({
        wanted: countSchema,
        placedOn: list(z.string()).describe('Names of the members on demand that are to keep a copy.'),
        unplaced: countSchema.describe('Copies for which no member is there.'),
      })
      .optional()
      .describe('Of a file, if a person wants a number of copies.'),
    problem: problemSchema.nullable(),
    conflictCopies: list(z.string()).describe('Paths of its conflict copies in the same directory.'),
    copyOf: z.string().optional().describe('The path that it is a conflict copy of, from its name.'),
    log: list(loggedOperationSchema).describe('The newest operations on the path, newest first.'),
  })
  .meta({ id: 'PathReport' });

export type PathReport = z.infer<typeof pathReportSchema>;
