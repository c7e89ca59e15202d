import { z } from 'zod';
import { countSchema, fileTimeSchema, list } from './common.ts';

/** The most remote files in one answer. */
export const remotePageMax = 1_000;

export const remoteQuerySchema = z.object({
  directory: z.string().default('').describe('The directory; without it the folder itself.'),
  name: z.string().optional().describe('Only the file with this name.'),
  after: z.string().optional().describe('Only names after this one.'),
  limit: z.coerce.number().int().min(1).max(remotePageMax).default(remotePageMax),
});

/** A file that this member fetches from others when it is read. */
const remoteFileSchema = z.object({
  name: z.string(),
  version: z.string().describe('Its ETag: `origin:seq`.'),
  size: countSchema,
  mode: countSchema,
  mtimeMs: fileTimeSchema,
});

/** `GET /api/v1/remote`: the files directly in a directory that are not on the disk of this member. */
export const remotePageSchema = z
  .object({
    files: list(remoteFileSchema).describe('By name.'),
    next: z.string().nullable().describe('Ask again with `after` of this name; null at the end.'),
    holdsAt: z
      .object({ slot: countSchema, value: countSchema })
      .optional()
      .describe(
        'No other file has become remote in the directory while this counter of `.lockstep/remote-counters` has this value: ' +
          '6 bytes, the lowest first, at 8 times `slot`.',
      ),
  })
  .meta({ id: 'RemotePage' });

/** `POST /api/v1/pin` and `/unpin`: whether the files at a path and below it stay on this disk. */
export const pinRequestSchema = z.object({ path: z.string().describe('The empty path is the whole folder.') });

export const pinResultSchema = z.object({
  path: z.string(),
  files: countSchema.describe('Files that are fetched now.'),
  bytes: countSchema.describe('Their bytes.'),
});

/** `POST /api/v1/remote/used`: files that programs opened in the mount, which reads them from the disk itself. */
export const usedRequestSchema = z.object({ paths: z.array(z.string().min(1)).max(remotePageMax) });

export const usedResultSchema = z.object({ used: countSchema.describe('The paths that were given.') });

/** `POST /api/v1/remote/settle`: what programs did at these paths is journaled when the answer comes. */
export const settleRequestSchema = z.object({ paths: z.array(z.string()).min(1).max(2) });

export const settleResultSchema = z.object({
  unsettled: list(z.string()).describe('Paths that did not come to rest.'),
});

export const holdQuerySchema = z.object({ path: z.string().min(1) });

/**
 * `POST /api/v1/remote/room/ROOM`: how much room programs need for what they write through a mount. Without a path, what is beyond `wished`
 * is given back, and nothing is reserved.
 */
export const roomRequestSchema = z.object({
  path: z.string().optional().describe('The file for which it is needed, to name it in a refusal.'),
  bytes: countSchema.describe('So much is reserved, or the request is refused.'),
  wished: countSchema.describe('So much is reserved if it is free.'),
  journaled: countSchema.describe(
    'Bytes of journaled files: they were reserved, and are not counted in the others here.',
  ),
});

export const roomResultSchema = z.object({ bytes: countSchema.describe('What is reserved now.') });

/** The most files in one request. */
export const publishedMax = 100;

/** `POST /api/v1/remote/room/ROOM/published`: what was reserved for these files counts as theirs when they are journaled, which the answer tells. */
export const publishedRequestSchema = z.object({
  files: z
    .array(
      z.object({
        path: z.string().min(1),
        inode: countSchema,
        birthMs: z.number().optional().describe('Its birth time: the disk may have used the inode for an older file.'),
        bytes: countSchema,
      }),
    )
    .max(publishedMax),
});

/** The header of the answer to `POST /api/v1/remote/room`: the room is reserved under this name until the connection ends. */
export const roomHeader = 'lockstep-room';

export type RemoteFile = z.infer<typeof remoteFileSchema>;
export type RemotePage = z.infer<typeof remotePageSchema>;
export type RemoteQuery = z.infer<typeof remoteQuerySchema>;
