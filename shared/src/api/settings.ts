import { z } from 'zod';
import { list } from './common.ts';

const valueSchema = z.union([z.string(), list(z.string())]);

/** One setting of `config.toml`. */
export const settingSchema = z
  .object({
    key: z.string().describe('The name in config.toml.'),
    title: z.string().describe('The name in words.'),
    group: z.enum(['limits', 'history', 'notices', 'checks', 'member', 'access']),
    about: z.string().describe('What it is, in sentences.'),
    value: valueSchema.describe('The value in force. Of a secret only a part that reveals nothing more.'),
    next: valueSchema.optional().describe('The value from the next start on, if it is another one.'),
    default: valueSchema,
    source: z
      .object({
        kind: z.enum(['default', 'file', 'environment', 'flag']),
        where: z.string().describe('As config.toml:12, LOCKSTEP_NAME or --name; empty for a default.'),
      })
      .describe('Where the value is set that the next start takes.'),
    takesEffect: z
      .enum(['now', 'restart', 'by-hand'])
      .describe('When a change by the API takes effect; `by-hand`: it is changed in config.toml only.'),
    effect: z.string().describe('A sentence: what a change does, or why it is made by hand.'),
    allowed: z.string().describe('The values allowed, as the end of a sentence that begins with "must be".'),
    notes: list(z.string())
      .optional()
      .describe('Of a limit: sentences on what holds now and later, by the local time of the member.'),
    warning: z.string().optional().describe('A sentence: what in the value in force has no effect now, and why.'),
    choices: list(z.string()).optional().describe('All values, if these are few; of a list, its elements.'),
  })
  .meta({ id: 'Setting' });

/** `GET /api/v1/settings`. */
export const settingsSchema = z
  .object({
    file: z.string().describe('The path of config.toml.'),
    version: z.string().describe('Names the text of the file; ETag has it in quotes.'),
    problem: z.string().optional().describe('Sentences: why the next start would fail, or the file cannot be changed.'),
    settings: list(settingSchema),
  })
  .meta({ id: 'Settings' });

/** `PATCH /api/v1/settings`. */
export const settingChangeSchema = z.object({
  key: z.string().max(100),
  value: z
    .union([z.string().max(4_096), z.array(z.string().max(4_096)).max(256), z.null()])
    .describe('Null takes the setting out of the file, so that its default holds.'),
});

export type Setting = z.infer<typeof settingSchema>;
export type Settings = z.infer<typeof settingsSchema>;
export type SettingChange = z.infer<typeof settingChangeSchema>;
