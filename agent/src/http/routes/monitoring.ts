import { healthSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { mayRead } from '../access/route-access.ts';
import { createMetrics } from '../metrics.ts';
import { readMetrics } from '../queries/metrics.ts';
import { readHealth, readStatus } from '../queries/status.ts';
import type { ServedMember } from '../served-member.ts';

/** The detail for callers that may not read paths. */
const unreadable = 'The folder cannot be used. lockstep status says why, and what to do.';

/** The routes for programs that monitor the agent. */
export const monitoringRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (
  app,
  { member: { engine, place } },
) => {
  const metrics = createMetrics(() => ({ status: readStatus(engine, place), snapshot: readMetrics(engine) }));

  app.get(
    '/healthz',
    {
      config: { access: 'open' },
      schema: {
        tags: ['operation'],
        summary: 'Whether this agent can do its work',
        response: { 200: healthSchema, 503: healthSchema },
      },
    },
    (request, reply) => {
      const health = readHealth(engine);
      reply.code(health.ok ? 200 : 503);
      // The detail names the folder.
      return health.ok || mayRead(request) ? health : { ...health, detail: unreadable };
    },
  );

  app.get(
    '/metrics',
    {
      config: { access: 'open' },
      schema: { tags: ['operation'], summary: 'Prometheus metrics', description: 'See docs/METRICS.md.' },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.render()),
  );
};
