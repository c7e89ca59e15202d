import { apiPrefix } from '@lockstep/shared/api';
import type { FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { printedRoutes } from '../../test/support/printed-routes.ts';
import { ServedCluster } from '../../test/support/served-cluster.ts';

async function openServer() {
  return (await ServedCluster.open()).server();
}

async function description() {
  const app = await openServer();
  return (await app.inject(`${apiPrefix}/openapi.json`)).json();
}

/** All objects below `value`, with the keys that lead there. */
function* objectsIn(value: unknown, at = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value as Record<string, unknown>];
  for (const [key, below] of Object.entries(value)) {
    yield* objectsIn(below, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

test('[API4] the description has a summary of every route', async () => {
  const { openapi, info, paths } = await description();
  expect(openapi).toBe('3.1.0');
  expect(info).toMatchObject({ title: 'Lockstep' });
  for (const methods of Object.values<Record<string, { summary?: string; responses?: object }>>(paths)) {
    for (const { summary, responses } of Object.values(methods)) {
      expect(summary).toBeTruthy();
      expect(responses).toBeTruthy();
    }
  }
});

/** The routes of the API as `METHOD /path`, except those that end with a wildcard: Fastify does not print all of them. */
function routesOf(app: FastifyInstance): string[] {
  return printedRoutes(app)
    .filter(({ method }) => /^(GET|POST|PUT|DELETE|PATCH)$/.test(method))
    .map(({ method, url }) => `${method} ${url}`)
    .filter((route) => / \/(api\/|healthz|metrics)/.test(route) && !/(openapi\.json|\*)$/.test(route));
}

test('[API4] the description and the routes agree, methods included', async () => {
  const app = await openServer();
  const { paths } = await description();
  const described = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      url: path.replace('{path}', '*').replaceAll(/\{(\w+)\}/g, ':$1'),
    })),
  );
  expect(described.filter((route) => !app.hasRoute(route as Parameters<typeof app.hasRoute>[0]))).toEqual([]);
  const known = described.filter(({ url }) => !url.endsWith('*')).map(({ method, url }) => `${method} ${url}`);
  expect(routesOf(app).sort()).toEqual(known.sort());
  const withWildcard = Object.keys(paths).filter((path) => path.endsWith('{path}'));
  expect(withWildcard.sort()).toEqual(
    ['content', 'files', 'paths', 'versions'].map((name) => `${apiPrefix}/${name}/{path}`),
  );
});

interface Described {
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema?: object;
  }[];
  readonly requestBody?: { readonly content?: Record<string, { readonly schema?: object }> };
  readonly responses?: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { readonly schema?: object }> }
  >;
}

test('it conforms to OpenAPI 3.1', async () => {
  const document = await description();
  expect(Object.keys(document).sort()).toEqual(expect.arrayContaining(['components', 'info', 'openapi', 'paths']));
  expect(document.info.version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const [path, methods] of Object.entries<Record<string, Described>>(document.paths)) {
    expect(path).toMatch(/^\//);
    for (const [method, { parameters = [], requestBody, responses = {} }] of Object.entries(methods)) {
      const where = `${method} ${path}`;
      for (const parameter of parameters) {
        expect(parameter, where).toMatchObject({
          in: expect.stringMatching(/^(path|query)$/),
          schema: expect.any(Object),
        });
        if (parameter.in === 'path') expect(parameter.required, `${where} ${parameter.name}`).toBe(true);
      }
      if (requestBody !== undefined) expect(requestBody.content?.['application/json']?.schema, where).toBeDefined();
      expect(Object.keys(responses).length, where).toBeGreaterThan(0);
      for (const [status, response] of Object.entries(responses)) {
        expect(status, where).toMatch(/^([1-5]\d\d|[1-5]XX|default)$/);
        expect(typeof response.description, where).toBe('string');
        for (const { schema } of Object.values(response.content ?? {})) expect(schema, where).toBeDefined();
      }
    }
  }
});

test('every reference has a target, and every parameter of a path is described', async () => {
  const document = await description();
  const known = new Set([...objectsIn(document)].map(([at]) => at));
  let references = 0;
  for (const [at, object] of objectsIn(document)) {
    if (typeof object.$ref !== 'string') continue;
    references++;
    expect(known, at).toContain(object.$ref);
  }
  expect(references).toBeGreaterThan(20);
  for (const [path, methods] of Object.entries<Record<string, { parameters?: { in: string; name: string }[] }>>(
    document.paths,
  )) {
    const inPath = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods)) {
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath);
    }
  }
});

test('components are named once, not as separate inputs and outputs', async () => {
  const { components } = await description();
  const names = Object.keys(components.schemas);
  expect(names).toContain('Status');
  expect(names).toContain('MemberReport');
  expect(names.filter((name) => /(Input|Output)$/.test(name))).toEqual([]);
});

test('[API4] fields have descriptions', async () => {
  const { components, paths } = await description();
  expect(components.schemas.Status.properties.pending.description).toBe('Paths that this disk does not show yet.');
  const [after] = paths['/api/v1/events'].get.parameters;
  expect(after).toMatchObject({ name: 'after', description: 'Only events with a higher number.' });
});
