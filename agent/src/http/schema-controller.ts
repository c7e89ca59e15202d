import type { FastifyServerOptions } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { requestValidator } from './request-validator.ts';

/** Makes fastify validate and serialise by zod's schemas. Its constructor would otherwise set up two compilers that are not used. */
export const schemaController = {
  // The types of fastify know only JSON Schema here.
  compilersFactory: { buildValidator: () => requestValidator, buildSerializer: () => serializerCompiler },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
