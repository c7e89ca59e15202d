import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';
import { pageItemsDefault, pageItemsMax } from './operations.ts';
import { treeEntrySchema } from './tree.ts';

/** A conflict that a person can settle: a conflict copy, and the entry at the path that it is a copy of. */
export const conflictSchema = z
  .object({
    copy: treeEntrySchema,
    path: z.string().describe('The path that it is a copy of.'),
    original: treeEntrySchema.nullable().describe('The entry there now; null if there is none.'),
    loser: z.string().describe('Name of the member whose version the copy is, from the name of the copy.'),
    loserAt: momentSchema.describe('When that version was made, from the name of the copy.'),
    winner: z.string().nullable().describe('Name of the member that wrote the entry there now.'),
    winnerAt: momentSchema.nullable().describe('When that was.'),
  })
  .meta({ id: 'Conflict' });

export const conflictsQuerySchema = z.object({
  after: z.string().optional().describe('Only copies after this path.'),
  limit: z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault),
});

/** `GET /api/v1/conflicts`: by the path of the copy. */
export const conflictsPageSchema = z
  .object({
    conflicts: list(conflictSchema),
    next: z.string().nullable(),
    total: countSchema,
  })
  .meta({ id: 'ConflictsPage' });

/** The version to keep: the entry at the path, the copy in its place, or both (the copy under an ordinary name). */
export const keepSchema = z.enum(['original', 'copy', 'both']);

export const resolveRequestSchema = z.object({
  conflicts: list(
    z.object({
      copy: z.string().min(1).describe('Path of the conflict copy.'),
      keep: keepSchema,
      copySeen: z.string().min(1).describe('`origin:seq` of the copy that the person saw: a newer one is not touched.'),
      originalSeen: z.string().nullable().describe('The same of the original; null when there was none.'),
    }),
  ),
});

/** `POST /api/v1/conflicts/resolve`: done in this member's folder as by a user, so that it becomes ordinary operations. */
export const resolveResultSchema = z
  .object({
    results: list(
      z.object({
        copy: z.string(),
        done: z.boolean(),
        path: z.string().optional().describe('The path of the copy now, if both were kept.'),
        reason: z.string().optional().describe('A sentence: why it was not done, and what to do.'),
      }),
    ),
  })
  .meta({ id: 'ResolveResult' });

/** The lines of both versions that a person picked, as one text: the body of `PUT /api/v1/conflicts/merged`. */
export const mergedQuerySchema = z.object({
  copy: z.string().min(1).describe('Path of the conflict copy.'),
  copySeen: z.string().min(1).describe('`origin:seq` of the copy that the person saw.'),
  originalSeen: z.string().min(1).describe('The same of the original, which the body replaces.'),
});

/** The settlement of a conflict: the entry at the path stayed, the copy replaced it, both were kept, or a text of both replaced it. */
const settledHowSchema = z.enum(['original', 'copy', 'both', 'merged']);

export const settledConflictSchema = z
  .object({
    copy: z.string().describe('The path that the conflict copy had.'),
    path: z.string().describe('The path that it was a copy of.'),
    settledBy: z.string().describe('`origin:seq` of the operation that removed the copy.'),
    how: settledHowSchema,
    to: z.string().optional().describe('The new path of the copy, if both were kept.'),
    by: z.string().describe('Name of the member in whose folder it was settled.'),
    at: momentSchema,
    loser: z.string().describe('Name of the member whose version the copy was.'),
    changed: z.string().optional().describe('A sentence: why it cannot be undone, because something changed since.'),
  })
  .meta({ id: 'SettledConflict' });

/** `GET /api/v1/conflicts/settled`: newest first. */
export const settledPageSchema = z.object({ settled: list(settledConflictSchema) }).meta({ id: 'SettledPage' });

export const undoRequestSchema = z.object({
  copy: z.string().min(1).describe('The path that the conflict copy had.'),
  settledBy: z.string().min(1).describe('As in the list: a conflict that was settled again since is not touched.'),
});

/** `POST /api/v1/conflicts/undo`: done in this member's folder as by a user, so that it becomes ordinary operations. */
export const undoResultSchema = z
  .object({
    done: z.boolean(),
    reason: z.string().optional().describe('A sentence: why nothing, or not everything, was put back, and what to do.'),
  })
  .meta({ id: 'UndoResult' });

export const contentQuerySchema = z.object({
  version: z.string().optional().describe('`origin:seq` of the version to return; by default the one there now.'),
  download: z.stringbool().optional().describe('True: the file has any size, and is for saving only.'),
});

export type Conflict = z.infer<typeof conflictSchema>;
export type ConflictsQuery = z.infer<typeof conflictsQuerySchema>;
export type ConflictsPage = z.infer<typeof conflictsPageSchema>;
export type Keep = z.infer<typeof keepSchema>;
export type ResolveRequest = z.infer<typeof resolveRequestSchema>;
export type ResolveResult = z.infer<typeof resolveResultSchema>;
export type MergedQuery = z.infer<typeof mergedQuerySchema>;
export type SettledConflict = z.infer<typeof settledConflictSchema>;
export type SettledPage = z.infer<typeof settledPageSchema>;
export type UndoRequest = z.infer<typeof undoRequestSchema>;
export type UndoResult = z.infer<typeof undoResultSchema>;
