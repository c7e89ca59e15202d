import { healthSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { AgentFacade } from '../facade.ts';
import { createMetrics } from '../metrics.ts';

/** For programs that watch over the agent. */
export const monitoringRoutes: FastifyPluginAsyncZod<{ facade: AgentFacade }> = async (app, { facade }) => {
  const metrics = createMetrics(facade);

  app.get(
    '/healthz',
    {
      schema: {
        tags: ['operation'],
        summary: 'Whether this agent can do its work',
        response: { 200: healthSchema, 503: healthSchema },
      },
    },
    (_request, reply) => {
      const health = facade.health();
      reply.code(health.ok ? 200 : 503);
      return health;
    },
  );

  app.get(
    '/metrics',
    { schema: { tags: ['operation'], summary: 'Prometheus metrics', description: 'See docs/METRICS.md.' } },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.render()),
  );
};
