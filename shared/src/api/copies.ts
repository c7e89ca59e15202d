import { z } from 'zod';
import { copiesPatternCharactersMax } from '../limits.ts';
import { copiesSchema } from '../member-record.ts';
import { countSchema, list } from './common.ts';

/** Copies that a member keeps for the cluster and does not have yet. */
export const lackingCopiesSchema = z.object({
  files: countSchema,
  bytes: countSchema,
  isFull: z.boolean().describe('It has no room for them.'),
  isUnavailable: z.boolean().describe('No member that answers has any of them.'),
});

/** A rule that the members as they are cannot keep. */
export const shortRuleSchema = z.object({
  pattern: z.string().describe('As in the rule; empty for all files that no pattern matches.'),
  wanted: countSchema.describe('The members that are to have each content.'),
  able: countSchema.describe('The members whose copies count now.'),
});

/** `GET /api/v1/copies`, and the answer to a change: on at least how many members the contents of files are kept. */
export const copiesReportSchema = z
  .object({
    rules: list(
      z.object({
        pattern: z.string().describe('A line of gitignore(5); empty for all files that no pattern matches.'),
        copies: copiesSchema.describe('`all`: on all members with the whole folder.'),
      }),
    ).describe('By pattern. Without any, the contents are on all members with the whole folder.'),
    members: list(
      z.object({
        id: z.string(),
        name: z.string(),
        onDemand: z.boolean(),
        counts: z
          .boolean()
          .describe(
            'Copies on it count. Those on a member that is away for long are made elsewhere; one on demand must have told its room.',
          ),
        roomBytes: countSchema.optional().describe('The room for copies that a member on demand tells.'),
        lacking: lackingCopiesSchema.optional(),
        paths: list(z.string()).optional().describe('Some of the files that it lacks; of the answering member only.'),
      }),
    ).describe('All members that have not left.'),
  })
  .meta({ id: 'CopiesReport' });

/** `POST /api/v1/copies`. */
export const copiesRequestSchema = z.object({
  pattern: z.string().max(copiesPatternCharactersMax).default(''),
  copies: copiesSchema.nullable().describe('null removes the rule.'),
});

export type ShortRule = z.infer<typeof shortRuleSchema>;
export type LackingCopies = z.infer<typeof lackingCopiesSchema>;
export type CopiesReport = z.infer<typeof copiesReportSchema>;
export type CopiesRequest = z.infer<typeof copiesRequestSchema>;
