import { z } from 'zod';
import { countSchema, list } from './common.ts';
import { pageItemsDefault, pageItemsMax } from './operations.ts';
import { treePageSchema } from './tree.ts';

export const filesQuerySchema = z.object({
  after: z.string().optional().describe('Of a directory: only entries after this name.'),
  below: z.stringbool().default(false).describe('Of a directory: count all entries below it.'),
  limit: z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault),
});

/** `GET /api/v1/files/*` of a directory: its entries by name, a page at a time. */
export const directoryPageSchema = treePageSchema
  .extend({
    version: z.string().nullable().describe('The version of the directory itself; null for the folder.'),
    below: z
      .object({ files: countSchema, directories: countSchema })
      .nullable()
      .describe(
        'All entries below it on this disk, if asked for; null if they are too many to be deleted by one request.',
      ),
  })
  .meta({ id: 'DirectoryPage' });

/** `PUT`, `MKCOL` and `MOVE` of `/api/v1/files/*`: the entry that is there now. */
export const writtenEntrySchema = z
  .object({
    path: z.string(),
    version: z
      .string()
      .nullable()
      .describe('`origin:seq` of the entry; null while this member still reads it to journal it.'),
    isNew: z.boolean().describe('Nothing was at the path before.'),
  })
  .meta({ id: 'WrittenEntry' });

export const deleteQuerySchema = z.object({
  entries: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Of a directory that is not empty: the number of entries below it that are to be deleted with it.'),
});

/** `DELETE /api/v1/files/*`. */
export const removedEntrySchema = z
  .object({
    path: z.string(),
    entries: countSchema.describe('Entries that were deleted, with the one at the path.'),
    left: list(z.object({ path: z.string(), reason: z.string().describe('A sentence: why it stayed.') })),
  })
  .meta({ id: 'RemovedEntry' });

export type FilesQuery = z.infer<typeof filesQuerySchema>;
export type DirectoryPage = z.infer<typeof directoryPageSchema>;
export type WrittenEntry = z.infer<typeof writtenEntrySchema>;
export type RemovedEntry = z.infer<typeof removedEntrySchema>;
