import { z } from 'zod';
import { countSchema, list, momentSchema } from './common.ts';

/** The most days for which a token may be made: ten years. */
export const tokenDaysMax = 3_650;

/** The most sessions that one request ends. */
const endedSessionsMax = 64;

/** `GET /api/v1/sessions`: the browsers that are logged in. */
export const sessionsSchema = z
  .object({
    sessions: list(
      z.object({
        id: z.string(),
        isThis: z.boolean().describe('The session of the browser that asks.'),
        since: momentSchema.optional().describe('Absent if an earlier version began it.'),
        lastUsedAt: momentSchema.optional().describe('After a crash of the agent it may be ten minutes too early.'),
        expiresAt: momentSchema,
        address: z.string().optional().describe('Where the login came from, as the connection had it.'),
        browser: z.string().optional().describe('In words, from what the browser says of itself.'),
      }),
    ),
  })
  .meta({ id: 'Sessions' });

/** `POST /api/v1/sessions/end`. */
export const endSessionsRequestSchema = z.union([
  z.strictObject({ ids: z.array(z.string().max(64)).min(1).max(endedSessionsMax) }),
  z.strictObject({ all: z.literal(true) }),
]);

export const endSessionsResultSchema = z
  .object({ ended: countSchema, unknown: list(z.string()).describe('Ids of no session, or of one that had ended.') })
  .meta({ id: 'EndSessionsResult' });

/** `POST /api/v1/logout`. */
export const logoutResultSchema = z.object({ loggedIn: z.literal(false) }).meta({ id: 'LogoutResult' });

const tokenSchema = z.object({
  name: z.string(),
  id: z.string().describe('The middle part of the token, to recognise it by.'),
  readOnly: z.boolean(),
  since: momentSchema,
  lastUsedAt: momentSchema.nullable().describe('After a crash of the agent it may be ten minutes too early.'),
  expiresAt: momentSchema.nullable().describe('Null: never.'),
});

/** `GET /api/v1/tokens`: the tokens of scripts. */
export const tokensSchema = z.object({ tokens: list(tokenSchema) }).meta({ id: 'Tokens' });

/** `POST /api/v1/tokens`. */
export const addTokenRequestSchema = z.object({
  name: z
    .string()
    .regex(
      /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u,
      'must have at most 64 characters: letters, digits, and . _ @ - but not first',
    ),
  readOnly: z.boolean().default(false),
  days: z.int().min(1).max(tokenDaysMax).optional().describe('Without it the token does not expire.'),
});

export const addTokenResultSchema = tokenSchema
  .extend({ token: z.string().describe('It is not stored, and cannot be shown again.') })
  .meta({ id: 'AddTokenResult' });

/** `POST /api/v1/tokens/remove`. */
export const removeTokenRequestSchema = z.object({ name: z.string().min(1).max(64) });

export const removeTokenResultSchema = z.object({ removed: z.boolean() }).meta({ id: 'RemoveTokenResult' });

export type SessionList = z.infer<typeof sessionsSchema>;
export type EndSessionsResult = z.infer<typeof endSessionsResultSchema>;
export type LogoutResult = z.infer<typeof logoutResultSchema>;
export type TokenList = z.infer<typeof tokensSchema>;
export type AddTokenResult = z.infer<typeof addTokenResultSchema>;
