import { z } from 'zod';
import { errorCodes, problemCodes } from '../error-code.ts';
import { fileTimeUsMax, fileTimeUsMin } from '../limits.ts';
import { memberConditions } from '../member-condition.ts';
import type { MemberState } from '../protocol/message.ts';

/** The prefix of every route of the API. */
export const apiPrefix = '/api/v1';

/** An array that the reader must not change: the API's answers are not copies. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** A count, or a number of bytes. */
export const countSchema = z.int().min(0);

/** A moment on the wall clock of the answering member, milliseconds since the epoch. */
export const momentSchema = z.number().min(0);

/** The time of a file, milliseconds since the epoch, possibly negative. Always in the range of a `Date`. */
export const fileTimeSchema = z
  .number()
  .min(fileTimeUsMin / 1_000)
  .max(fileTimeUsMax / 1_000);

/** Highest sequence number of each origin. */
export const vectorSchema = z.record(z.string(), countSchema);

export const memberStateSchema = z.enum([
  'joining',
  'syncing',
  'active',
  'suspect',
  'down',
  'left',
] as const satisfies readonly MemberState[]);

export const memberConditionSchema = z.enum(memberConditions);

/** The schema of the interface `Problem`. */
export const problemSchema = z
  .object({
    code: z.enum(problemCodes),
    path: z.string().optional(),
    member: z.string().optional().describe('Member id.'),
    detail: z.string().describe('A sentence: what is wrong and what to do.'),
    since: momentSchema,
  })
  .meta({ id: 'Problem' });

/** Error codes that only the API uses, in addition to the agent's own. */
export const apiErrorCodes = [
  'not-found',
  'forbidden-host', // the Host header is no address of this agent: it may be a rebound DNS name
  'forbidden-origin', // the request comes from a page of another site
  'login-required', // neither a cookie of this agent nor a valid token
  'socket-only', // only for commands of the agent's own user
  'person-only', // not for scripts with a token
  'read-only', // the token is for reading only
  'body-too-large',
  'version-replaced', // another version took the place of the one that is read, whose bytes are gone
  'version-mismatch', // the entry is not the one that If-Match or If-None-Match names
  'version-required', // a write would replace or delete an entry, and names no version
  'no-entry', // nothing is at the path
  'not-written', // the folder was left as it is; the message says why
  'disk-full', // too little room for the file
  'range-invalid', // the range begins after the end of the file
  'too-many', // more requests, live streams or wrong secrets than an agent takes
  'internal',
] as const;

/** A limit of a rate that delays something now. */
export const limitSchema = z.object({
  direction: z.enum(['send', 'receive']),
  member: z.string().optional().describe('The name of the member that alone is limited; absent: all together.'),
  bytesPerSecond: z.number().positive(),
  until: z.string().optional().describe('The local time of the asked member, as 18:00, at which another rate holds.'),
});

export type Limit = z.infer<typeof limitSchema>;

/** The body of every answer with a status of 400 or above. */
export const apiErrorSchema = z
  .object({
    error: z.object({
      code: z.enum([...errorCodes, ...apiErrorCodes]),
      message: z.string().describe('A sentence: what is wrong and what to do.'),
      version: z
        .string()
        .optional()
        .describe('With `version-mismatch` and `version-required`: the version that is there.'),
    }),
  })
  .meta({ id: 'ApiError' });

export type ApiError = z.infer<typeof apiErrorSchema>;
export type ApiErrorCode = ApiError['error']['code'];
