import type { FastifyDynamicSwaggerOptions, SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger';
import { SOFTWARE_VERSION } from '@lockstep/shared';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** Schemas that were given an id are named by it; all others are written out where they are used. */
const toJsonSchema = createJsonSchemaTransform({ schemaRegistry: z.globalRegistry });
const addComponents = createJsonSchemaTransformObject({ schemaRegistry: z.globalRegistry });

/** The rest of a path goes by a name in the description: `*` is the router's word for it. */
const wildcardName = 'path';

const transform: SwaggerTransform = (route) => {
  const { schema, url } = toJsonSchema(route);
  if (!url.endsWith('/*')) return { schema, url };
  const params = { type: 'object', properties: { [wildcardName]: { type: 'string' } }, required: [wildcardName] };
  return { schema: { ...schema, params }, url: `${url.slice(0, -1)}:${wildcardName}` };
};

const transformObject: SwaggerTransformObject = (document) => {
  const described = addComponents(document);
  const schemas = 'components' in described ? (described.components?.schemas ?? {}) : {};
  // Every schema comes twice, as something sent and something received. Requests are written out where they are used.
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return described;
};

/** How the description is generated from the routes' schemas. */
export const openapiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Lockstep',
      version: SOFTWARE_VERSION,
      description:
        'What one member knows of itself, of the cluster and of each path, and the few things it can be asked to do. Errors ' +
        'are answered as `{ error: { code, message } }`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [
      { name: 'state', description: 'What is.' },
      { name: 'commands', description: 'What can be asked for.' },
      { name: 'events', description: 'What happens.' },
      { name: 'operation', description: 'For monitoring.' },
    ],
  },
  transform,
  transformObject,
};
