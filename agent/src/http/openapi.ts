import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import {
  apiErrorSchema,
  apiEventSchema,
  eventsPageSchema,
  healthSchema,
  leaveResultSchema,
  liveMessageSchema,
  loggedOperationSchema,
  memberReportSchema,
  membersSchema,
  operationReportSchema,
  operationsPageSchema,
  pathReportSchema,
  problemSchema,
  replayRequestSchema,
  replayResultSchema,
  rescanResultSchema,
  SOFTWARE_VERSION,
  statusSchema,
  verifyResultSchema,
  waitRequestSchema,
  waitResultSchema,
} from '@lockstep/shared';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** The schemas that the description names; all others are written out where they are used. */
const named = {
  ApiError: apiErrorSchema,
  Event: apiEventSchema,
  EventsPage: eventsPageSchema,
  Health: healthSchema,
  LeaveResult: leaveResultSchema,
  LiveMessage: liveMessageSchema,
  LoggedOperation: loggedOperationSchema,
  MemberReport: memberReportSchema,
  Members: membersSchema,
  Operation: operationReportSchema,
  OperationsPage: operationsPageSchema,
  PathReport: pathReportSchema,
  Problem: problemSchema,
  ReplayRequest: replayRequestSchema,
  ReplayResult: replayResultSchema,
  RescanResult: rescanResultSchema,
  Status: statusSchema,
  VerifyResult: verifyResultSchema,
  WaitRequest: waitRequestSchema,
  WaitResult: waitResultSchema,
};

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });

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
  transform: createJsonSchemaTransform({ schemaRegistry: registry }),
  transformObject: createJsonSchemaTransformObject({ schemaRegistry: registry }),
};
