import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { frameBytesMax, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN } from '@lockstep/shared';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { eventually } from '../../testkit/eventually.ts';
import { freePort } from '../../testkit/free-port.ts';
import { lockstep, Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { openConnection } from '../src/net/dial.ts';
import { parseClusterKey } from '../src/net/keys/cluster-key.ts';
import { createIdentity } from '../src/net/keys/identity.ts';
import { encodeMessage } from '../src/net/messages/codec.ts';
import { openNetwork } from '../src/net/network.ts';
import { SqliteDatabase } from '../src/os/sqlite.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

const cluster = useCluster(['ant', 'bee']);

async function stillWorks(text: string): Promise<void> {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await writeFile(ant.path('works'), text);
  await cluster().settled();
  expect(await readFile(bee.path('works'), 'utf8')).toBe(text);
}

describe('[MB3] strangers', () => {
  test('a member with another cluster key is refused, receives nothing, and both sides say why', async () => {
    const folder = join(cluster().root, 'stranger');
    await mkdir(folder);
    await writeFile(join(folder, 'own'), 'own');
    const place = { name: 'stranger', folder, port: await freePort(), dashboardPort: await freePort() };
    const stranger = new Member(place, {});
    const listen = ['--listen', stranger.address, '--dashboard', new URL(stranger.url).host];
    const ant = cluster().member('ant');
    expect((await lockstep(['init', folder, '--name', 'stranger', ...listen])).code).toBe(0);
    try {
      await stranger.start({ args: ['--peer', ant.address] });
      // It is synchronised with its own folder, but has no other members.
      await vi.waitFor(
        async () => expect(await stranger.status()).toMatchObject({ synchronised: false, pending: 0 }),
        patience,
      );
      for (const member of [stranger, ant]) {
        await vi.waitFor(
          async () => {
            const problem = (await member.status()).problems.find(({ code }) => code === 'member-refused');
            // Each attempt comes from another port.
            expect(problem?.member, member.name).toBe(member === ant ? '127.0.0.1' : ant.address);
            expect(problem?.detail, member.name).toMatch(
              /the cluster keys differ: compare \.lockstep\/cluster\.key on both members/,
            );
          },
          { timeout: 20_000, interval: 100 },
        );
      }
      // The API may answer before the log has arrived here.
      const refused = await eventually(() => {
        const lines = ant.log.filter((line) => line.includes('"code":"member-refused"'));
        expect(lines).toHaveLength(1);
        return lines;
      });
      expect(refused[0]?.match(/"member":/g), refused[0]).toHaveLength(1);
      expect(JSON.parse(refused[0] ?? '')).toMatchObject({ member: 'ant', peer: '127.0.0.1' });
      await stillWorks('with a stranger');
      expect([...stranger.tree().keys()]).toEqual(['own']);
      expect([...ant.tree().keys()]).toEqual(['works']);
    } finally {
      await stranger.kill();
    }
  });

  /** The credentials of a peer of ant's cluster, with a new identity. */
  async function insider() {
    const file = cluster().member('ant').state('cluster.key');
    return { identity: await createIdentity(), clusterKey: parseClusterKey(await readFile(file, 'utf8'), file) };
  }

  test('a member that speaks another protocol is refused, with the advice what to upgrade', async () => {
    const protocol = { min: 90, max: 91 };
    const sentence =
      /the dialler speaks protocol 90 to 91, the listener \d+( to \d+)?: upgrade Lockstep on the listener/;
    const ant = cluster().member('ant');
    const listen = { host: '127.0.0.1', port: 0 };
    const network = await openNetwork({ ...(await insider()), listen, log: silentLog, protocol });
    onTestFinished(() => network.close());
    await expect(network.dial(ant.address)).rejects.toThrow(sentence);
    await vi.waitFor(async () => {
      const details = (await ant.status()).problems.map(({ detail }) => detail);
      expect(details.join('\n')).toMatch(sentence);
    }, patience);
    await stillWorks('after another protocol');
  });

  test.each<[string, string | Buffer, RegExp]>([
    ['too large', Buffer.alloc(frameBytesMax + 1), /^1009 /],
    ['truncated', encodeMessage({ type: 'leave', retire: true })[0].subarray(0, -1), /leave: the body is cut short/],
    ['invalid by the schema', encodeMessage({ type: 'received', id: -1 })[0], /invalid frame: received/],
    ['no hello', encodeMessage({ type: 'received', id: 1 })[0], /the first message was not a hello/],
  ])('[SY6] a frame that is %s ends that session with a reason, and no other', async (what, frame, reason) => {
    const ant = cluster().member('ant');
    const protocol = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };
    const credentials = { ...(await insider()), protocol, instance: 'raw' };
    const { socket } = await new Promise<{ socket: WebSocket }>((opened, failed) => {
      openConnection({ address: ant.address, credentials, handshakeTimeoutMs: patience, opened, failed });
    });
    onTestFinished(() => socket.terminate());
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    const before = (await ant.status()).members.find(({ name }) => name === 'bee');
    socket.send(frame);
    const [code, said] = await closed;
    expect(`${code} ${said}\n${ant.log.join('\n')}`).toMatch(reason);
    await stillWorks(`after a frame that is ${what}`);
    const after = (await ant.status()).members.find(({ name }) => name === 'bee');
    expect(after).toMatchObject({ connected: true, remote: before?.remote });
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

test('a port that is taken: the message names the address and says what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const bee = cluster().member('bee');
  await bee.stop();
  const sentences = {
    '--listen': `Port ${port} is in use on 127.0.0.1: stop the program that listens on 127.0.0.1:${port}, or give this member another port`,
    '--dashboard': `The dashboard cannot listen on 127.0.0.1:${port}: another program already does. Stop it, or choose another port`,
  };
  for (const [flag, sentence] of Object.entries(sentences)) {
    const outcome = await lockstep(['up', bee.folder, flag, `127.0.0.1:${port}`]);
    expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining(sentence) });
  }
  server.close();
  await bee.start();
  await cluster().connected();
  await stillWorks('after a taken port');
});

test('a journal of a newer version is not changed', async () => {
  const bee = cluster().member('bee');
  await bee.stop();
  const database = new SqliteDatabase(bee.state('journal.db'));
  const version = database.pragma('user_version', { simple: true });
  database.pragma('user_version = 9999');
  database.close();
  const outcome = await lockstep(['up', bee.folder]);
  expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining('newer') });
  const again = new SqliteDatabase(bee.state('journal.db'));
  again.pragma(`user_version = ${version}`);
  again.close();
  await bee.start();
  await cluster().connected();
  await stillWorks('after a newer journal');
});

test('[MB3] a cluster key that is damaged or missing: the message names the file and where to get it', async () => {
  const bee = cluster().member('bee');
  await bee.stop();
  const path = bee.state('cluster.key');
  const key = await readFile(path, 'utf8');
  for (const [damage, sentence] of [
    [
      () => writeFile(path, key.slice(0, -9)),
      `${path} contains a key that is cut short or mistyped. Copy .lockstep/cluster.key again`,
    ],
    [
      () => writeFile(path, ''),
      `${path} contains no key. Copy .lockstep/cluster.key again from a member of the cluster`,
    ],
    [
      () => rm(path),
      `The cluster key ${path} does not exist. Copy .lockstep/cluster.key from another member of the cluster`,
    ],
  ] as const) {
    await damage();
    expect(await lockstep(['up', bee.folder])).toMatchObject({ code: 1, err: expect.stringContaining(sentence) });
  }
  await writeFile(path, key);
  await bee.start();
  await cluster().connected();
  await stillWorks('after a damaged key');
});

test('[JN10] if its journal is damaged, a running agent ends and says what to do, and its next start rebuilds it', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const path = bee.state('journal.db');
  const database = new SqliteDatabase(path);
  // A change by another process makes the agent drop the pages that it has in memory.
  database.exec("INSERT INTO settings VALUES ('test', '1')");
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = await readFile(path);
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(bytes.length - 4096, 0xa5), 0, bytes.length - 4096, 4096);
  await file.close();
  await writeFile(bee.path('written'), 'on bee, while its journal is damaged');
  await writeFile(ant.path('meanwhile'), 'on ant');
  await bee.ended();
  // A session may still log its own failure after that sentence.
  await eventually(() => expect(bee.log).toContain('--- bee ended with 1'));
  expect(bee.log).toContainEqual(
    expect.stringMatching(/^lockstep: The journal .*journal\.db is damaged .* and start again: the journal is rebuilt/),
  );
  await bee.start();
  await cluster().connected();
  await cluster().settled();
  expect(await readFile(ant.path('written'), 'utf8')).toBe('on bee, while its journal is damaged');
  expect(await readFile(bee.path('meanwhile'), 'utf8')).toBe('on ant');
  const problem = (await bee.status()).problems.find(({ code }) => code === 'journal-rebuilt');
  expect(problem?.detail).toMatch(
    /^The journal was damaged \(.*\)\. It was put aside as .*journal\.db\.damaged-.* and is being rebuilt/,
  );
  await cluster().verified();
});
