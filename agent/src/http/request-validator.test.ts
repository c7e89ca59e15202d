import {
  addTokenRequestSchema,
  copiesRequestSchema,
  endSessionsRequestSchema,
  filesQuerySchema,
  operationsQuerySchema,
  resolveRequestSchema,
  waitRequestSchema,
} from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ServedCluster } from '../../test/support/served-cluster.ts';
import { requestValidator } from './request-validator.ts';

/** The message on an invalid part of a request; undefined if it is valid. */
function faultOf(schema: z.ZodType, body: unknown, httpPart = 'body'): string | undefined {
  const result = requestValidator({ schema, httpPart, method: 'POST', url: '/' })(body);
  return typeof result === 'object' && 'error' in result && result.error instanceof Error
    ? result.error.message
    : undefined;
}

test.each<[string, z.ZodType, unknown, string]>([
  ['a number', copiesRequestSchema, { copies: 5_000 }, 'copies must be at most 64'],
  ['alternatives', copiesRequestSchema, { copies: 'x' }, 'copies must be a number or must be "all"'],
  ['nothing', copiesRequestSchema, {}, 'copies is missing'],
  ['no object', copiesRequestSchema, 'text', 'it must be an object'],
  ['no body', copiesRequestSchema, undefined, 'it is missing'],
  ['a fraction', addTokenRequestSchema, { name: 'ant', days: 1.5 }, 'days must be a whole number'],
  ['two fields', addTokenRequestSchema, { name: 1, days: 0 }, 'name must be text; days must be at least 1'],
  [
    'a rule of the schema',
    addTokenRequestSchema,
    { name: '-' },
    'name must have at most 64 characters: letters, digits, and . _ @ - but not first',
  ],
  ['a choice', waitRequestSchema, { for: 'x' }, 'for must be "all" or "majority" or must be a number'],
  ['a list', resolveRequestSchema, { conflicts: {} }, 'conflicts must be a list'],
  ['an empty text', z.object({ path: z.string().min(1) }), { path: '' }, 'path must not be empty'],
  ['a long text', z.object({ path: z.string().max(3) }), { path: 'four' }, 'path must have at most 3 characters'],
  ['a multiple', z.object({ size: z.number().multipleOf(4) }), { size: 6 }, 'size must be a multiple of 4'],
  ['more than zero', z.object({ rate: z.number().positive() }), { rate: 0 }, 'rate must be more than 0'],
  ['an unknown field', z.strictObject({ all: z.boolean() }), { all: true, ids: [] }, 'it must not have ids'],
])('[API14] the sentence for %s says what is allowed', (_what, schema, body, fault) => {
  expect(faultOf(schema, body)).toBe(`The body is not valid: ${fault}.`);
});

test('[API14] no sentence has words of the library', () => {
  const faults = [
    faultOf(filesQuerySchema, { limit: 'ten', below: 'perhaps' }, 'querystring'),
    faultOf(operationsQuerySchema, { before: 5, after: 3 }, 'querystring'),
    faultOf(endSessionsRequestSchema, { ids: [], all: false }),
  ];
  for (const fault of faults) {
    expect(fault).toMatch(/^The (query|body) is not valid: .*must/);
    expect(fault).not.toMatch(/Invalid|expected|received|Too |Unrecognized/);
  }
});

test('[API14] a request is answered with it', async () => {
  const app = await (await ServedCluster.open()).server();
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/v1/copies', payload: { copies: 5_000 } });
  expect([statusCode, JSON.parse(body).error]).toEqual([
    400,
    { code: 'request-invalid', message: 'The body is not valid: copies must be at most 64.' },
  ]);
});
