import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';

/** The largest page of operations or events. */
export const pageItemsMax = 1_000;

/** The size of a page if the request gives none. */
export const pageItemsDefault = 100;

const limitSchema = z.coerce.number().int().min(1).max(pageItemsMax).default(pageItemsDefault);

export const operationsQuerySchema = z
  .object({
    before: z.coerce.number().int().min(1).optional().describe('Only rows below this one.'),
    after: z.coerce.number().int().min(0).optional().describe('Only rows above this one, oldest first.'),
    limit: limitSchema,
    path: z.string().min(1).optional().describe('Only operations on this path and on paths below it.'),
  })
  .refine((query) => query.before === undefined || query.after === undefined, {
    message: 'must have either before or after, not both',
  });

/** One operation as it is shown to people, without version vectors and block hashes. */
export const operationReportSchema = z
  .object({
    origin: z.string(),
    seq: countSchema,
    member: z.string().describe('Id of the member that made it.'),
    memberName: z.string(),
    at: momentSchema.describe('When it was made, by the hybrid logical clock.'),
    hlc: countSchema,
    kind: z.enum(['put', 'mkdir', 'symlink', 'attr', 'delete', 'member']),
    path: z.string(),
    content: z.string().optional().describe('Content id; files only.'),
    replaced: z.string().optional().describe('The content id that the path had before.'),
    size: countSchema.optional(),
    mode: countSchema.optional().describe('Permission bits.'),
    mtimeUs: z.number().optional().describe('Modification time, microseconds since the epoch.'),
    target: z.string().optional().describe('Text of a symbolic link.'),
    from: z.string().optional().describe('The path it was renamed from.'),
    group: countSchema.optional().describe('`seq` of the first operation of the group that it belongs to.'),
    membership: z.enum(['joined', 'left']).optional().describe('Membership operations only.'),
    writer: z
      .object({ member: z.string(), memberName: z.string(), at: momentSchema })
      .optional()
      .describe('Who wrote the content, and when, if another operation did.'),
    conflict: z
      .object({
        path: z.string(),
        version: z.enum(['kept', 'copied']).describe('`kept`: it has the name. `copied`: it is a conflict copy.'),
      })
      .optional()
      .describe('The conflict that the operation settled.'),
    settles: z.string().optional().describe('The path of the conflict copy that a person removed or renamed by it.'),
  })
  .meta({ id: 'Operation' });

export const loggedOperationSchema = operationReportSchema
  .extend({
    row: countSchema.describe('Order of arrival in this journal.'),
    journaledAt: momentSchema,
  })
  .meta({ id: 'LoggedOperation' });

/** `GET /api/v1/ops`: newest first, or oldest first if the request has `after`. */
export const operationsPageSchema = z
  .object({
    operations: list(loggedOperationSchema),
    next: countSchema
      .nullable()
      .describe('Pass this as `before` (as `after` if the request had `after`) for the next page; null at the end.'),
  })
  .meta({ id: 'OperationsPage' });

export type OperationsQuery = z.infer<typeof operationsQuerySchema>;
export type OperationReport = z.infer<typeof operationReportSchema>;
export type LoggedOperation = z.infer<typeof loggedOperationSchema>;
export type OperationsPage = z.infer<typeof operationsPageSchema>;
