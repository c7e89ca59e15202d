import swagger, {
  type FastifyDynamicSwaggerOptions,
  type SwaggerTransform,
  type SwaggerTransformObject,
} from '@fastify/swagger';
import { SOFTWARE_VERSION } from '@lockstep/shared';
import fastify, { type RouteOptions } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { schemaController } from './schema-controller.ts';

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

const options: FastifyDynamicSwaggerOptions = {
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

/** The description in OpenAPI 3.1 of `routes`, from their schemas. The library reads them from a server, which here is one that listens nowhere. */
export async function describeRoutes(routes: readonly RouteOptions[]): Promise<object> {
  const app = fastify({ schemaController, exposeHeadRoutes: false });
  await app.register(swagger, options);
  for (const { method, url, schema } of routes)
    app.route({ method, url, ...(schema && { schema }), handler: () => {} });
  await app.ready();
  const description = app.swagger();
  await app.close();
  return description;
}
