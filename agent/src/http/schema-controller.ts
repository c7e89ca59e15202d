import type { FastifyServerOptions } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { requestValidator } from './request-validator.ts';

/** How fastify checks and writes by the schemas of zod. Given to its constructor, which otherwise sets up two compilers that are not used. */
export const schemaController = {
  // The types of fastify know only JSON Schema here.
  compilersFactory: { buildValidator: () => requestValidator, buildSerializer: () => serializerCompiler },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
