import type { Conflict, ConflictsPage, Keep, SettledConflict, SettledPage } from '@lockstep/shared/api';
import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { contentOfText } from '../../sim/disk/content.ts';

let app: FastifyInstance;
let served: ServedCluster;

beforeEach(async () => {
  served = await ServedCluster.open(['ant', 'bee']);
  app = await served.server();
  served.cluster.begin();
});

const copyOf = (name: string) => `${name}.conflict-20261121T065602123Z-ant.txt`;

/** A conflict, whose copy has the text `ant`; the entry at the path has the text `bee`. */
async function conflict(name: string): Promise<Conflict> {
  served.cluster.user('bee').write(`${name}.txt`, 'bee', contentOfText('bee'));
  served.cluster.user('ant').write(copyOf(name), 'ant', contentOfText('ant'));
  const find = async () =>
    ((await get('conflicts')) as ConflictsPage).conflicts.find(
      ({ copy, original }) => copy.path === copyOf(name) && original !== null,
    );
  await expect.poll(find).toBeDefined();
  return (await find()) as Conflict;
}

async function get(path: string): Promise<unknown> {
  return (await app.inject(`/api/v1/${path}`)).json();
}

const version = ({ origin, seq }: { origin: string; seq: number }) => `${origin}:${seq}`;

async function settle({ copy, original }: Conflict, keep: Keep): Promise<void> {
  const originalSeen = original && version(original);
  const conflicts = [{ copy: copy.path, keep, copySeen: version(copy), originalSeen }];
  const answer = await app.inject({ method: 'POST', url: '/api/v1/conflicts/resolve', payload: { conflicts } });
  expect(answer.json().results).toMatchObject([{ done: true }]);
}

function merge({ copy, original }: Conflict, body: string | Buffer) {
  const query = { copy: copy.path, copySeen: version(copy), originalSeen: original ? version(original) : '' };
  const headers = { 'content-type': 'application/octet-stream' };
  return app.inject({ method: 'PUT', url: '/api/v1/conflicts/merged', query, payload: body, headers });
}

async function settled(copy: string): Promise<SettledConflict> {
  const find = async () => ((await get('conflicts/settled')) as SettledPage).settled.find((each) => each.copy === copy);
  await expect.poll(find).toBeDefined();
  return (await find()) as SettledConflict;
}

async function undo({ copy, settledBy }: Pick<SettledConflict, 'copy' | 'settledBy'>) {
  return (await app.inject({ method: 'POST', url: '/api/v1/conflicts/undo', payload: { copy, settledBy } })).json();
}

async function text(path: string): Promise<string | undefined> {
  const { statusCode, body } = await app.inject(`/api/v1/files/${encodeURIComponent(path)}`);
  return statusCode === 200 ? body : undefined;
}

describe('[CF13] a settled conflict is listed, and undone', () => {
  test.each(['original', 'copy', 'both'] as const)('after %s was kept', async (keep) => {
    await settle(await conflict('n'), keep);
    const found = await settled(copyOf('n'));
    expect(found).toMatchObject({ path: 'n.txt', how: keep, by: 'ant', loser: 'ant' });
    expect(found.to).toBe(keep === 'both' ? 'n (from ant).txt' : undefined);
    expect(await undo(found)).toEqual({ done: true });
    expect(await text('n.txt')).toBe('bee');
    expect(await text(copyOf('n'))).toBe('ant');
    expect(await text('n (from ant).txt')).toBeUndefined();
    const { conflicts } = (await get('conflicts')) as ConflictsPage;
    expect(conflicts).toMatchObject([{ path: 'n.txt', loser: 'ant', winner: 'bee' }]);
    expect(await get('conflicts/settled')).toEqual({ settled: [] });
    await served.settled();
    expect(await undo(found)).toMatchObject({ done: false, reason: /open again/ });
  });

  test('after a person removed the copy on another member', async () => {
    await conflict('n');
    await served.settled();
    served.cluster.user('bee').remove(copyOf('n'));
    const found = await settled(copyOf('n'));
    await served.settled();
    expect(found).toMatchObject({ how: 'original', by: 'bee' });
    expect(await undo(found)).toEqual({ done: true });
    expect(await text(copyOf('n'))).toBe('ant');
  });

  test('but nothing that changed since is overwritten', async () => {
    await settle(await conflict('n'), 'copy');
    await settle(await conflict('m'), 'both');
    const found = await settled(copyOf('n'));
    await served.write('n.txt', 'newer');
    await served.write('m (from ant).txt', 'newer');
    const [first, second] = [await settled(copyOf('n')), await settled(copyOf('m'))];
    expect(first.changed).toMatch(/n\.txt has changed since/);
    expect(second.changed).toMatch(/m \(from ant\)\.txt has changed since/);
    for (const each of [found, second]) expect(await undo(each)).toMatchObject({ done: false, reason: /has changed/ });
    expect(await text('n.txt')).toBe('newer');
    expect(await text('m (from ant).txt')).toBe('newer');
    expect(await text(copyOf('n'))).toBeUndefined();
  });

  test('and one whose original was deleted with its directory is none', async () => {
    const user = served.cluster.user('ant');
    user.makeDirectories('d');
    await served.settled();
    await conflict('d/n');
    await served.settled();
    user.remove(copyOf('d/n'));
    user.remove('d/n.txt');
    await expect.poll(() => served.ant.journal.totals.counts().files).toBe(0);
    expect(await get('conflicts/settled')).toEqual({ settled: [] });
  });
});

describe('[CF14] a content that a person made of both versions', () => {
  test('settles the conflict, and can be undone', async () => {
    const seen = await conflict('n');
    const bytes = Buffer.from('\uFEFFone\r\ntwo');
    expect((await merge(seen, bytes)).statusCode).toBe(200);
    expect(await text('n.txt')).toBe(bytes.toString());
    expect((await get('conflicts')) as ConflictsPage).toMatchObject({ conflicts: [], total: 0 });
    const found = await settled(copyOf('n'));
    expect(found).toMatchObject({ how: 'merged', path: 'n.txt', by: 'ant' });
    expect(await undo(found)).toEqual({ done: true });
    expect(await text('n.txt')).toBe('bee');
    expect(await text(copyOf('n'))).toBe('ant');
  });

  test('that is the one at the path only removes the copy', async () => {
    const seen = await conflict('n');
    expect((await merge(seen, 'bee')).json()).toMatchObject({ path: 'n.txt', isNew: false });
    expect(await settled(copyOf('n'))).toMatchObject({ how: 'original' });
  });

  test.each(['n.txt', copyOf('n')])('is not written if %s changed since it was shown', async (path) => {
    const seen = await conflict('n');
    await served.write(path, 'newer');
    const { statusCode, body } = await merge(seen, 'both');
    expect([statusCode, body]).toEqual([412, expect.stringContaining(`${path} has changed since it was shown`)]);
    expect(await text(path)).toBe('newer');
    expect(await text(copyOf('n'))).toBe(path === 'n.txt' ? 'ant' : 'newer');
  });

  test('is refused for a file that is no conflict copy, or that is gone', async () => {
    const seen = await conflict('n');
    const other = { ...seen, copy: { ...seen.copy, path: 'n.txt' } };
    expect((await merge(other, 'both')).statusCode).toBe(400);
    await settle(seen, 'original');
    await settled(copyOf('n'));
    expect((await merge(seen, 'both')).statusCode).toBe(412);
    expect(await text('n.txt')).toBe('bee');
  });
});
