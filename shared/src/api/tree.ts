import { z } from 'zod';
import { countSchema, fileTimeSchema, list, momentSchema } from './common.ts';
import { pageItemsDefault, pageItemsMax } from './operations.ts';

export const entryTypeSchema = z.enum(['file', 'directory', 'symlink']);

/** One entry of the replicated tree, from the visible head. */
export const treeEntrySchema = z
  .object({
    path: z.string(),
    name: z.string(),
    type: entryTypeSchema,
    size: countSchema.optional().describe('Bytes of a file, or of the files below a directory of a tree page.'),
    sizePartial: z
      .boolean()
      .optional()
      .describe('Only a part of what is below the directory was counted: it has at least `size`.'),
    mtimeMs: fileTimeSchema.optional(),
    target: z.string().optional(),
    origin: z.string(),
    seq: countSchema.describe('Its version: the operation that it shows.'),
    writer: z.string().describe('Id of the member that made that operation.'),
    writerName: z.string(),
    at: momentSchema.describe('When that was.'),
    holding: countSchema.describe(
      'The number of members that hold it durably, without those that fetch contents on demand and those that left.',
    ),
    missing: list(z.string()).describe('Ids of the members that do not.'),
    conflict: z
      .boolean()
      .describe('It has concurrent versions, is a conflict copy, or has conflict copies in the same directory.'),
    deleted: z
      .boolean()
      .optional()
      .describe('It was deleted: `writer` and `at` are those of that, the rest is as before.'),
    pending: z.boolean().describe('This disk does not show it yet.'),
  })
  .meta({ id: 'TreeEntry' });

export const treeQuerySchema = z.object({
  path: z.string().default('').describe('The directory; empty for the folder itself.'),
  after: z.string().optional().describe('Only entries after this name.'),
  limit: z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault),
});

/** `GET /api/v1/tree`: the entries directly in a directory, by name. */
export const treePageSchema = z
  .object({
    path: z.string(),
    entries: list(treeEntrySchema),
    total: countSchema.describe('Entries of the directory.'),
    next: z.string().nullable().describe('Pass this as `after` for the next page; null at the end.'),
    members: countSchema.describe('Members that have not left.'),
  })
  .meta({ id: 'TreePage' });

/** `GET /api/v1/deleted`: what was deleted directly in a directory, by name. */
export const deletedPageSchema = z
  .object({
    path: z.string(),
    entries: list(treeEntrySchema),
    next: z.string().nullable().describe('Pass this as `after` for the next page; null at the end.'),
  })
  .meta({ id: 'DeletedPage' });

export const searchQuerySchema = z.object({
  name: z.string().min(1).max(255).describe('Part of a name, in any case; part of the whole path if it has a slash.'),
  limit: z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault),
});

/** `GET /api/v1/search`: entries whose name contains the text, by path. */
export const searchResultSchema = z
  .object({
    entries: list(treeEntrySchema),
    more: z.boolean().describe('There are more than the limit.'),
    members: countSchema,
  })
  .meta({ id: 'SearchResult' });

export type TreeEntry = z.infer<typeof treeEntrySchema>;
export type TreeQuery = z.infer<typeof treeQuerySchema>;
export type TreePage = z.infer<typeof treePageSchema>;
export type DeletedPage = z.infer<typeof deletedPageSchema>;
export type SearchQuery = z.infer<typeof searchQuerySchema>;
export type SearchResult = z.infer<typeof searchResultSchema>;
