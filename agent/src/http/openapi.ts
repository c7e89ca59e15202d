import type { FastifyDynamicSwaggerOptions, SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger';
import { SOFTWARE_VERSION } from '@lockstep/shared';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** A schema with an id is a named component; all others are written out where they are used. */
const toJsonSchema = createJsonSchemaTransform({ schemaRegistry: z.globalRegistry });
const addComponents = createJsonSchemaTransformObject({ schemaRegistry: z.globalRegistry });

/** The name of the rest of a path in the description: `*` is the router's notation. */
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
  // Every schema is generated twice, for input and for output. Requests are written out where they are used.
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return described;
};

/** The options for generating the description from the routes' schemas. */
export const openapiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Lockstep',
      version: SOFTWARE_VERSION,
      description:
        'The state of one member, and of the cluster and each path as it knows them, and the commands that it accepts. Errors ' +
        'are answered as `{ error: { code, message } }`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [
      { name: 'state', description: 'The current state.' },
      { name: 'commands', description: 'Commands to the member.' },
      { name: 'files', description: 'The folder: files are read and written as by a user of it.' },
      { name: 'settings', description: 'The settings of the member.' },
      { name: 'events', description: 'Events and live streams.' },
      { name: 'operation', description: 'For monitoring.' },
    ],
  },
  transform,
  transformObject,
};
