import { z } from 'zod';
import { countSchema } from './common.ts';

/** `POST /api/v1/pause` and `/resume`: a paused member keeps its sessions closed, journals its own changes and applies nothing; it outlives a restart. */
export const pauseResultSchema = z.object({ paused: z.boolean() });

/** `POST /api/v1/retry`: tries everything again at once that was put off. */
export const retryResultSchema = z.object({
  paths: countSchema.describe('Paths that this disk does not show yet and that are tried now.'),
});

export type PauseResult = z.infer<typeof pauseResultSchema>;
export type RetryResult = z.infer<typeof retryResultSchema>;
