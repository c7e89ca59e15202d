import { z } from 'zod';
import { versionsMax } from '../limits.ts';
import { countSchema, list } from './common.ts';
import { loggedOperationSchema } from './operations.ts';
import { entryTypeSchema } from './tree.ts';

/** One version of a path: the operation that made it, and the places that have its content. */
export const pathVersionSchema = loggedOperationSchema
  .extend({
    version: z.string().describe('`origin:seq`: it names the version on every member.'),
    label: z.string().describe('The short name for people: the member that made the operation, and its number there.'),
    type: z.enum([...entryTypeSchema.options, 'absent']).describe('The entry that it made; `absent`: it deleted.'),
    isCurrent: z.boolean().describe('The path has this version now.'),
    place: z
      .enum(['folder', 'history'])
      .nullable()
      .describe('Where this member has the content; null if it does not, or if there is none.'),
    members: list(z.object({ member: z.string(), name: z.string() })).describe('Other members that have the content.'),
    restorable: z.boolean().describe('It can be put back now.'),
  })
  .meta({ id: 'PathVersion' });

export const versionsQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(versionsMax).default(50),
});

/** `GET /api/v1/versions/*`: the versions of a path, newest first; those of its earlier names too. */
export const versionsPageSchema = z
  .object({
    path: z.string(),
    versions: list(pathVersionSchema),
    more: z.boolean().describe('There are older ones.'),
    silent: list(z.string()).describe('Names of members that could not be asked for contents, or did not answer.'),
  })
  .meta({ id: 'VersionsPage' });

export const restoreRequestSchema = z
  .object({
    path: z.string().min(1),
    version: z.string().min(1).optional().describe('`version` or `label` of the version to put back.'),
    at: z
      .number()
      .optional()
      .describe('The version of this time, in ms since the epoch. A directory that is there needs it.'),
  })
  .refine(({ version, at }) => version === undefined || at === undefined, {
    message: 'must have either version or at, not both',
  });

/** `POST /api/v1/restore`: done in this member's folder as by a user, so that it becomes an ordinary operation. */
export const restoreResultSchema = z
  .object({
    path: z.string(),
    restored: loggedOperationSchema.optional().describe('The version that was put back; not for a directory.'),
    changed: z.boolean().describe('False if the path had this version already, or nothing was deleted below it.'),
    below: z
      .object({
        entries: countSchema.describe('Deleted entries that were put back.'),
        refused: list(z.object({ path: z.string(), reason: z.string() })).describe('The first of those that were not.'),
        refusedCount: countSchema.describe('Deleted entries that could not be put back.'),
        more: z.boolean().describe('There are more deleted entries: ask again.'),
      })
      .optional()
      .describe('For a directory: what was deleted at it or below it since the time.'),
  })
  .meta({ id: 'RestoreResult' });

export type PathVersion = z.infer<typeof pathVersionSchema>;
export type VersionsQuery = z.infer<typeof versionsQuerySchema>;
export type VersionsPage = z.infer<typeof versionsPageSchema>;
export type RestoreRequest = z.infer<typeof restoreRequestSchema>;
export type RestoreResult = z.infer<typeof restoreResultSchema>;
