import type { FastifyDynamicSwaggerOptions, SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger';
import { SOFTWARE_VERSION } from '@lockstep/shared';
import {
  apiErrorSchema,
  apiEventSchema,
  conflictSchema,
  conflictsPageSchema,
  eventsPageSchema,
  healthSchema,
  journeySchema,
  latenciesSchema,
  latencyHistorySchema,
  latencySchema,
  leaveResultSchema,
  liveMessageSchema,
  liveOperationsMessageSchema,
  loggedOperationSchema,
  memberReportSchema,
  membersSchema,
  operationReportSchema,
  operationsPageSchema,
  pathReportSchema,
  problemSchema,
  recentLatenciesSchema,
  replayResultSchema,
  rescanResultSchema,
  resolveResultSchema,
  searchResultSchema,
  statusSchema,
  transfersSchema,
  treeEntrySchema,
  treePageSchema,
  verifyResultSchema,
  waitResultSchema,
} from '@lockstep/shared/api';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** The schemas that the description names; all others are written out where they are used. */
const named = {
  ApiError: apiErrorSchema,
  Conflict: conflictSchema,
  ConflictsPage: conflictsPageSchema,
  Event: apiEventSchema,
  EventsPage: eventsPageSchema,
  Health: healthSchema,
  Latencies: latenciesSchema,
  Latency: latencySchema,
  LatencyHistory: latencyHistorySchema,
  Journey: journeySchema,
  LeaveResult: leaveResultSchema,
  LiveMessage: liveMessageSchema,
  LiveOperationsMessage: liveOperationsMessageSchema,
  LoggedOperation: loggedOperationSchema,
  MemberReport: memberReportSchema,
  Members: membersSchema,
  Operation: operationReportSchema,
  OperationsPage: operationsPageSchema,
  PathReport: pathReportSchema,
  Problem: problemSchema,
  RecentLatencies: recentLatenciesSchema,
  ReplayResult: replayResultSchema,
  ResolveResult: resolveResultSchema,
  RescanResult: rescanResultSchema,
  SearchResult: searchResultSchema,
  Status: statusSchema,
  TreeEntry: treeEntrySchema,
  TreePage: treePageSchema,
  Transfers: transfersSchema,
  VerifyResult: verifyResultSchema,
  WaitResult: waitResultSchema,
};

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });

const toJsonSchema = createJsonSchemaTransform({ schemaRegistry: registry });
const addComponents = createJsonSchemaTransformObject({ schemaRegistry: registry });

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
  for (const name of Object.keys(schemas)) if (!(name in named)) delete schemas[name];
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
