import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';

const targetNameSchema = z.enum(['webhook', 'command']);

const deliverySchema = z.object({
  at: momentSchema,
  ok: z.boolean(),
  text: z.string().describe('A sentence: what happened.'),
});

/** `GET /api/v1/notices`: where this member tells people, and of what. */
export const noticesSchema = z
  .object({
    targets: list(
      z.object({
        target: targetNameSchema,
        what: z.string().describe('The host of the webhook, or the name of the program.'),
        last: deliverySchema.optional().describe('The last delivery since the agent started, tests included.'),
      }),
    ).describe('Empty when the settings name none.'),
    about: list(z.enum(['down', 'conflict', 'disk', 'problem'])),
    afterMs: countSchema.describe('The time for which a member must have been down.'),
    freeBytesMin: countSchema.describe('The free disk space below which people are told.'),
  })
  .meta({ id: 'Notices' });

/** `POST /api/v1/notices/test`: the result of a test notice to each target. */
export const noticeTestSchema = z
  .object({ attempts: list(deliverySchema.extend({ target: targetNameSchema, what: z.string() })) })
  .meta({ id: 'NoticeTest' });

export type Notices = z.infer<typeof noticesSchema>;
export type NoticeTest = z.infer<typeof noticeTestSchema>;
