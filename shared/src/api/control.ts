import { z } from 'zod';
import { countSchema, momentSchema } from './common.ts';

/**
 * `POST /api/v1/pause` and `/resume`. A paused member keeps its sessions closed, journals its own changes and applies nothing. The pause
 * outlives a restart.
 */
export const pauseResultSchema = z.object({ name: z.string().describe('Of the member.'), paused: z.boolean() });

/** `POST /api/v1/retry`: retries everything at once that was put off. */
export const retryResultSchema = z.object({
  paths: countSchema.describe('Paths that this disk does not show yet and that are tried now.'),
});

/** `POST /api/v1/mounts/accept`: the content of a mount point now belongs to the folder; entries missing from it count as deleted. */
export const acceptMountRequestSchema = z.object({
  path: z.string().min(1).describe('The mount point, as its problem names it.'),
});
export const acceptMountResultSchema = z.object({ accepted: z.string().describe('The path.') });

/** `POST /api/v1/login-link`: a link that logs one browser in. */
export const loginLinkSchema = z.object({
  url: z.string().describe('Works once.'),
  expiresAt: momentSchema,
});

/** `GET /api/v1/login`: how a browser can log in here, in addition to a link. */
export const loginWaysSchema = z.object({ password: z.boolean().describe('A password was set.') });

/** `POST /api/v1/login`: logs a browser in. */
export const loginRequestSchema = z.object({ password: z.string().max(1_000) });
export const loginResultSchema = z.object({ loggedIn: z.literal(true) });

export type LoginWays = z.infer<typeof loginWaysSchema>;
export type AcceptMountRequest = z.infer<typeof acceptMountRequestSchema>;
export type AcceptMountResult = z.infer<typeof acceptMountResultSchema>;
export type PauseResult = z.infer<typeof pauseResultSchema>;
export type RetryResult = z.infer<typeof retryResultSchema>;
