import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiPrefix } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { FakeFacade, memoryLog } from '../../test/support/fake-facade.ts';
import { buildServer } from './server.ts';

async function description() {
  const app = await buildServer({
    facade: new FakeFacade(),
    log: memoryLog(),
    assets: join(tmpdir(), 'lockstep-no-dashboard'),
    listen: { host: '127.0.0.1', port: 0 },
  });
  try {
    return (await app.inject(`${apiPrefix}/openapi.json`)).json();
  } finally {
    await app.close();
  }
}

/** Everything below `value` that is an object, with the keys that lead there. */
function* objectsIn(value: unknown, at = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value as Record<string, unknown>];
  for (const [key, below] of Object.entries(value)) {
    yield* objectsIn(below, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

test('[API4] the description names every route and says something about each', async () => {
  const { openapi, info, paths } = await description();
  expect(openapi).toBe('3.1.0');
  expect(info).toMatchObject({ title: 'Lockstep' });
  expect(Object.keys(paths).sort()).toEqual(
    [
      '/healthz',
      '/metrics',
      ...['events', 'events/live', 'leave', 'members', 'ops', 'paths/{path}'],
      ...['replay', 'rescan', 'status', 'verify', 'wait'],
    ]
      .map((path) => (path.startsWith('/') ? path : `${apiPrefix}/${path}`))
      .sort(),
  );
  for (const methods of Object.values<Record<string, { summary?: string; responses?: object }>>(paths)) {
    for (const { summary, responses } of Object.values(methods)) {
      expect(summary).toBeTruthy();
      expect(responses).toBeTruthy();
    }
  }
});

test('every reference leads somewhere, and every parameter of a path is described', async () => {
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
