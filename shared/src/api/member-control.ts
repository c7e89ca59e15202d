import { z } from 'zod';
import { settingChangeSchema } from './settings.ts';

/** The control that a member grants to the other members; each level includes those before it. */
export const controlLevels = ['none', 'pause', 'settings'] as const;

/** `GET /api/v1/members/MEMBER/control`: what the members of the cluster may do to another one, as it says itself. */
export const memberControlSchema = z
  .object({
    allows: z
      .enum(controlLevels)
      .describe(
        '`pause`: pause, resume and retry; `settings`: also its settings, as far as its own page changes them.',
      ),
    paused: z.boolean(),
  })
  .meta({ id: 'MemberControl' });

/** The answer to that request: it is none that failed if the other member could not be asked. */
export const memberControlAnswerSchema = z.union([
  memberControlSchema,
  z.object({ reason: z.string().describe('A sentence: why the member could not be asked, or refused this one.') }),
]);

/** A request from one member to another one, on a connection of its own (docs/PROTOCOL.md, section 10). */
export const controlRequestSchema = z.discriminatedUnion('do', [
  z.object({ do: z.literal('look') }),
  z.object({ do: z.literal('pause') }),
  z.object({ do: z.literal('resume') }),
  z.object({ do: z.literal('retry') }),
  z.object({ do: z.literal('settings') }),
  z.object({ do: z.literal('change'), change: settingChangeSchema, version: z.string().max(64) }),
]);

/** The answer: what the API of that member answers to the same request of its own user, or why nothing was done. */
export const controlAnswerSchema = z.union([
  z.object({
    refused: z.object({
      code: z.string().max(64),
      message: z.string().max(4_096).describe('A sentence: what is wrong and what to do.'),
      version: z.string().max(64).optional().describe('Of the text that is there, if that is what is wrong.'),
    }),
  }),
  z.object({ done: z.unknown() }),
]);

export type ControlLevel = (typeof controlLevels)[number];
export type MemberControlAnswer = z.infer<typeof memberControlAnswerSchema>;
export type MemberControl = z.infer<typeof memberControlSchema>;
export type ControlRequest = z.infer<typeof controlRequestSchema>;
export type ControlAnswer = z.infer<typeof controlAnswerSchema>;
