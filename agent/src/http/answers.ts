import { apiErrorSchema } from '@lockstep/shared/api';
import type { z } from 'zod';

/** The answers of a route, for its schema: `success` or an error. */
export function answers<Success extends z.ZodType>(success: Success) {
  return { 200: success, '4xx': apiErrorSchema, '5xx': apiErrorSchema };
}
