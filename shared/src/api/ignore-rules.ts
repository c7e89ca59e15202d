import { z } from 'zod';
import { ignoreFileBytesMax } from '../limits.ts';
import { countSchema, list } from './common.ts';

const skippedLineSchema = z.object({
  line: z.number().int().min(1),
  text: z.string(),
  detail: z.string().describe('A sentence: why the line is no rule.'),
});

/** `GET /api/v1/ignore-rules`: the file of the rules. */
export const ignoreRulesSchema = z
  .object({
    path: z.string().describe('The file in the folder. It is read and written as any other file.'),
    version: z.string().nullable().describe('Its version, for If-Match; null if it does not exist.'),
    text: z.string().nullable().describe('Its text; null if it cannot be read as text.'),
    fault: z.string().optional().describe('Why the file is not in force, and what to do.'),
    isWaiting: z.boolean().describe('The rules of the file come into force shortly.'),
    skipped: list(skippedLineSchema).describe('Lines in force that are no rules and are left out.'),
  })
  .meta({ id: 'IgnoreRules' });

const affectedSchema = z.object({
  count: countSchema,
  first: list(z.string()).describe('The first of their paths; a directory is listed before what is in it.'),
  isPartial: z.boolean().describe('There may be more: not all entries were compared in time.'),
});

/** `POST /api/v1/ignore-rules/preview`: what other rules would do. */
export const ignorePreviewRequestSchema = z.object({ text: z.string().max(ignoreFileBytesMax) });
export const ignorePreviewSchema = z
  .object({
    ignored: affectedSchema.describe('Entries of the cluster that would no longer be replicated.'),
    revealed: affectedSchema.describe('Entries of this disk and of the cluster that would no longer be ignored.'),
    skipped: list(skippedLineSchema).describe('Lines of the text that are no rules and would be left out.'),
  })
  .meta({ id: 'IgnorePreview' });

export type IgnoreRulesAnswer = z.infer<typeof ignoreRulesSchema>;
export type IgnorePreview = z.infer<typeof ignorePreviewSchema>;
