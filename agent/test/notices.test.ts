import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { healthEventsSchema, noticesSchema, noticeTestSchema } from '@lockstep/shared/api';
import { overAfterMs } from '@lockstep/shared/present';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { openShiftedClock } from '../../testkit/vitest/shifted-clock.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';
import { SqliteDatabase } from '../src/os/sqlite.ts';

const patience = { timeout: 60_000, interval: 200 };

interface Received {
  readonly text: string;
  readonly state: string;
  readonly member: { readonly name: string };
  readonly notices: readonly { readonly key: string; readonly kind: string }[];
}

/** A real webhook: it keeps what is posted, and answers with the status of the moment. */
async function webhook() {
  const received: Received[] = [];
  const answer = { status: 204, location: undefined as string | undefined };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (answer.status < 300) received.push(JSON.parse(body));
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  return { url, received, answer };
}

async function config(member: Member, lines: readonly string[]): Promise<void> {
  const path = member.state('config.toml');
  await writeFile(path, `${await readFile(path, 'utf8')}\n${lines.join('\n')}\n`);
}

/** The records of a member on the causes that its webhook was told. */
function rememberedOf(member: Member): string {
  const database = new SqliteDatabase(member.state('health.db'), { readonly: true });
  const row = database.prepare<[], { data: string }>("SELECT data FROM kept WHERE name = 'told webhook'").get();
  database.close();
  return row?.data ?? '';
}

/** The newest event at a member. It is noted just before the causes are examined. */
async function lastEvent(member: Member): Promise<string> {
  const [newest] = healthEventsSchema.parse(await member.get('/health/events?limit=1')).events;
  return `${newest?.kind} ${newest?.name}`;
}

async function problems(member: Member): Promise<readonly string[]> {
  return (await member.status()).problems.map(({ code, detail }) => `${code}: ${detail}`);
}

describe('notices', () => {
  test('[NT1] [NT3] [NT5] [NT9] members with one webhook tell once that another one is down, also after a restart, and that it is over', async () => {
    const { url, received } = await webhook();
    const clock = await openShiftedClock();
    const env = {
      ...clock.env,
      LOCKSTEP_NOTIFY_WEBHOOK: url,
      LOCKSTEP_NOTIFY_AFTER: '1s',
      LOCKSTEP_NOTIFY_FREE_SPACE: '0 B',
    };
    const cluster = await startCluster(['ant', 'bee', 'cat'], { start: { env } });
    const members = await Promise.all(
      ['ant', 'bee', 'cat'].map(async (name) => {
        const member = cluster.member(name);
        return { name, member, id: (await member.status()).member.id };
      }),
    );
    // Of all three the first one would tell, and it does not know that it was down.
    const [lost, one, two] = members.sort((a, b) => (a.id < b.id ? -1 : 1));
    if (lost === undefined || one === undefined || two === undefined) throw new Error('a cluster of three');
    await lost.member.kill();
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), patience);
    expect(received[0]).toMatchObject({
      text: `Lockstep: ${lost.name} is down.`,
      state: 'begun',
      member: { name: one.name },
      notices: [{ key: `down ${lost.id}`, kind: 'down' }],
    });
    expect(JSON.stringify(received)).not.toContain(cluster.root);
    const speaker = one.member;
    // A member that does not tell takes a cause for told after a time.
    await vi.waitFor(() => expect(rememberedOf(two.member)).toContain('"key":"down '), patience);
    expect(rememberedOf(two.member)).not.toContain('toldAt');
    clock.advance(overAfterMs);
    await vi.waitFor(() => expect(rememberedOf(two.member)).toMatch(/"key":"down [^}]*"toldAt"/), patience);
    await speaker.stop();
    await speaker.start();
    await cluster.connected();
    await vi.waitFor(async () => {
      const down = (await speaker.status()).members.filter(({ condition }) => condition === 'down');
      expect(down.map(({ name }) => name)).toEqual([lost.name]);
    }, patience);
    await lost.member.start();
    for (const { member } of [one, two]) {
      await vi.waitFor(async () => expect(await lastEvent(member)).toBe(`back ${lost.name}`), patience);
    }
    expect(received).toHaveLength(1);
    clock.advance(overAfterMs);
    await vi.waitFor(() => expect(received.map(({ state }) => state)).toContain('over'), patience);
    expect(received.map(({ text }) => text)).toEqual([
      `Lockstep: ${lost.name} is down.`,
      `Lockstep: Over: ${lost.name} is down.`,
    ]);
  }, 400_000);

  test('[NT6] a webhook that fails or redirects is a problem, and gets the notice later', async () => {
    const { url, received, answer } = await webhook();
    const elsewhere = await webhook();
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const clock = await openShiftedClock();
    await ant.stop();
    await config(ant, [`notify_webhook = "${url}"`, 'notify_free_space = "1000 TiB"']);
    answer.status = 307;
    answer.location = elsewhere.url;
    await ant.start({ env: clock.env });
    await vi.waitFor(() => expect(rememberedOf(ant)).toContain('"kind":"disk"'), patience);
    clock.advance(overAfterMs);
    await vi.waitFor(async () => {
      expect(await problems(ant)).toEqual([expect.stringMatching(/^notify-failing: .* answered 307, a redirect/)]);
    }, patience);
    answer.status = 500;
    await vi.waitFor(async () => expect((await problems(ant)).join()).toContain('answered 500'), patience);
    expect((await problems(ant)).join()).not.toContain('secret-path');
    expect(ant.log.join('\n')).not.toContain('secret-path');
    answer.status = 200;
    answer.location = undefined;
    await vi.waitFor(() => expect(received).toHaveLength(1), patience);
    expect(received[0]?.text).toMatch(/^Lockstep: ant has only .* of free disk space\.$/);
    await vi.waitFor(async () => expect(await problems(ant)).toEqual([]), patience);
    expect(elsewhere.received).toEqual([]);
  });

  test('[NT7] [NT8] a command gets the notice in its environment and on its input, without a shell, and a test says what happened', async () => {
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const none = await lockstep(['notify', '--test', ant.folder]);
    expect(none).toMatchObject({ code: 1, out: expect.stringContaining('config.toml names no notify_webhook') });
    await ant.stop();
    const script = `${cluster.root}/tell me.sh`;
    await writeFile(
      script,
      '#!/bin/sh\n{ echo "$1|$LOCKSTEP_NOTICE_STATE|$LOCKSTEP_NOTICE_KINDS"; cat; } >> "$0.out"\n',
    );
    await chmod(script, 0o700);
    await config(ant, [`notify_command = [${JSON.stringify(script)}, "$HOME; a b"]`]);
    await ant.start();
    const tested = await lockstep(['notify', '--test', ant.folder]);
    expect(tested).toMatchObject({ code: 0, out: 'The command took the test: tell me.sh ended with 0.\n' });
    const [first = '', second = ''] = (await readFile(`${script}.out`, 'utf8')).split('\n');
    expect(first).toBe('$HOME; a b|test|test');
    expect(JSON.parse(second)).toMatchObject({ state: 'test', member: { name: 'ant' }, notices: [{ key: 'test' }] });

    await writeFile(script, '#!/bin/sh\necho "no such pager" >&2\nexit 3\n');
    const failed = await lockstep(['notify', '--test', ant.folder]);
    expect(failed).toMatchObject({ code: 1, out: 'The command failed: tell me.sh ended with 3: no such pager\n' });
    expect(await problems(ant)).toEqual([expect.stringContaining('notify-failing')]);
    const shown = noticesSchema.parse(await ant.get('/notices'));
    expect(shown).toMatchObject({
      targets: [{ target: 'command', what: 'tell me.sh', last: { ok: false } }],
      afterMs: 300_000,
    });

    await writeFile(script, '#!/bin/sh\nexit 0\n');
    const again = noticeTestSchema.parse(await (await ant.fetch('api/v1/notices/test', { method: 'POST' })).json());
    expect(again.attempts).toMatchObject([{ ok: true }]);
    expect(await problems(ant)).toEqual([]);
  });

  test('[NT10] a setting that is not allowed names its line and what is', async () => {
    const cluster = await startCluster(['ant'], {});
    const ant = cluster.member('ant');
    await ant.stop();
    await config(ant, [
      'notify_webhook = "ftp://example.net"',
      'notify_command = "mail me"',
      'notify_about = ["gossip"]',
      'notify_after = "soon"',
    ]);
    const { code, err } = await lockstep(['config', ant.folder]);
    expect(code).toBe(2);
    expect(err).toMatch(/config\.toml:\d+: notify_webhook must be a URL that begins with http:\/\/ or https:\/\//);
    expect(err).toMatch(/notify_command must be a list of a program and its arguments, .*; its value may be a secret/);
    expect(err).toMatch(/notify_about must be a list of down, conflict, disk and problem, .*; it is "gossip"/);
    expect(err).toMatch(/notify_after must be a duration from 1s to 30d/);
  });
});
