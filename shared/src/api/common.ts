import { z } from 'zod';
import { errorCodes, problemCodes } from '../error-code.ts';
import { fileTimeUsMax, fileTimeUsMin } from '../limits.ts';
import type { MemberState } from '../protocol/message.ts';

/** Where every route of the API begins. */
export const apiPrefix = '/api/v1';

/** An array that the reader may not change: what the API gives out is a copy of nothing. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** A count, or a number of bytes. */
export const countSchema = z.int().min(0);

/** A moment on the wall clock of the member that says it, milliseconds since the epoch. */
export const momentSchema = z.number().min(0);

/** The time of a file, milliseconds since the epoch: files may carry times from before it. Always in the range of a `Date`. */
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

/** See the interface `Problem`, which this describes. */
export const problemSchema = z
  .object({
    code: z.enum(problemCodes),
    path: z.string().optional(),
    member: z.string().optional().describe('Member id.'),
    detail: z.string().describe('A sentence: what is wrong and what to do.'),
    since: momentSchema,
  })
  .meta({ id: 'Problem' });

/** Refusals that only the API knows; the others are the agent's own error codes. */
export const apiErrorCodes = [
  'not-found',
  'forbidden-host', // the Host header names no address of this agent: it may be a rebound DNS name
  'forbidden-origin', // a page of another site asks
  'forbidden-remote', // only programs on the agent's own machine may ask this
  'body-too-large',
  'too-many', // more live streams than an agent serves
  'internal',
] as const;

/** What every answer with a status of 400 or above holds. */
export const apiErrorSchema = z
  .object({
    error: z.object({
      code: z.enum([...errorCodes, ...apiErrorCodes]),
      message: z.string().describe('A sentence: what is wrong and what to do.'),
    }),
  })
  .meta({ id: 'ApiError' });

export type ApiError = z.infer<typeof apiErrorSchema>;
export type ApiErrorCode = ApiError['error']['code'];
