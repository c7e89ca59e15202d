import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test, vi } from 'vitest';
import { freePort } from './_util/free-ports.ts';
import { lockstep, Member } from './_util/member.ts';
import { useCluster } from './_util/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

async function stillWorks(text: string): Promise<void> {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await writeFile(ant.path('works'), text);
  await cluster().settled();
  expect(await readFile(bee.path('works'), 'utf8')).toBe(text);
}

describe('[MB3] strangers', () => {
  test('a member with another cluster key is refused with a sentence on both sides, and gets nothing', async () => {
    const folder = join(cluster().root, 'stranger');
    await mkdir(folder);
    await writeFile(join(folder, 'own'), 'own');
    const place = { name: 'stranger', folder, port: await freePort(), dashboardPort: await freePort() };
    const stranger = new Member(place, {});
    const listen = ['--listen', stranger.address, '--dashboard', new URL(stranger.url).host];
    const ant = cluster().member('ant');
    expect((await lockstep(['init', folder, '--name', 'stranger', ...listen, '--peer', ant.address])).code).toBe(0);
    try {
      await stranger.start();
      for (const member of [stranger, ant]) {
        await vi.waitFor(
          async () => {
            const problem = (await member.status()).problems.find(({ code }) => code === 'member-refused');
            expect(problem?.detail, member.name).toMatch(/cluster/);
          },
          { timeout: 20_000, interval: 100 },
        );
      }
      await stillWorks('with a stranger');
      expect([...stranger.tree().keys()]).toEqual(['own']);
      expect([...ant.tree().keys()]).toEqual(['works']);
    } finally {
      await stranger.kill();
    }
  });

  const noise: readonly (readonly [what: string, bytes: Buffer])[] = [
    ['random bytes', randomBytes(100_000)],
    ['an HTTP request without TLS', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['nothing at all', Buffer.alloc(0)],
  ];
  test.each(noise)('%s at the port', async (_what, bytes) => {
    const socket = connect(cluster().member('ant').port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.end(bytes);
    await stillWorks(`after ${bytes.length} bytes of noise`);
    socket.destroy();
  });

  test.each([
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`,
    'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  ])('%.30s over TLS, without a certificate', async (text) => {
    const socket = connectTls({ port: cluster().member('ant').port, host: '127.0.0.1', rejectUnauthorized: false });
    const ended = once(socket, 'close').catch(() => undefined);
    socket.on('error', () => undefined);
    socket.on('secureConnect', () => socket.write(text));
    socket.resume();
    await stillWorks(`after ${text.length} characters over TLS`);
    socket.destroy();
    await ended;
  });
});

test('a port that is taken: the address, and what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const bee = cluster().member('bee');
  await bee.stop();
  for (const flag of ['--listen', '--dashboard']) {
    const outcome = await lockstep(['up', bee.folder, flag, `127.0.0.1:${port}`]);
    expect(outcome.code).toBe(1);
    expect(outcome.err).toContain(`127.0.0.1:${port}`);
  }
  server.close();
  await bee.start();
  await cluster().connected();
  await stillWorks('after a taken port');
});

test('a journal of a newer version is not touched', async () => {
  const bee = cluster().member('bee');
  await bee.stop();
  const { default: Database } = await import('better-sqlite3');
  const database = new Database(bee.state('journal.db'));
  const version = database.pragma('user_version', { simple: true });
  database.pragma('user_version = 9999');
  database.close();
  const outcome = await lockstep(['up', bee.folder]);
  expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining('newer') });
  const again = new Database(bee.state('journal.db'));
  again.pragma(`user_version = ${version}`);
  again.close();
  await bee.start();
  await cluster().connected();
  await stillWorks('after a newer journal');
});
