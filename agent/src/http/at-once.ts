import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The most requests of this route that are served at once; more are refused. No limit by default. */
    readonly atOnce?: number;
  }
}

/** Refuses requests of costly routes while their limit is reached. */
export function limitAtOnce(app: FastifyInstance): void {
  const underWay = new Map<string, number>();
  app.addHook('onRequest', async (request, reply) => {
    const { config, url } = request.routeOptions;
    if (config.atOnce === undefined) return;
    // Reading and writing the same address have limits of their own.
    const route = `${request.method} ${url}`;
    const count = underWay.get(route) ?? 0;
    if (count >= config.atOnce) {
      reply.header('retry-after', 1);
      throw new HttpError(503, {
        code: 'too-many',
        message: `${count} such requests are under way. Try again when one has ended.`,
      });
    }
    underWay.set(route, count + 1);
    // Also if the client has gone before the answer.
    reply.raw.once('close', () => underWay.set(route, (underWay.get(route) ?? 1) - 1));
  });
}
