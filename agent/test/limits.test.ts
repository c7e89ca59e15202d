import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { settingsSchema, transfersSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { lockstepProgram } from '../../testkit/repository.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);
const mebibyte = 1_048_576;
const patience = { timeout: 60_000, interval: 50 };

/** Changes a setting as the page does. */
async function change(member: Member, key: string, value: string): Promise<Response> {
  const { version } = settingsSchema.parse(await member.get('/settings'));
  return member.fetch('/api/v1/settings', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': `"${version}"` },
    body: JSON.stringify({ key, value }),
  });
}

async function transfersTo(member: Member) {
  return transfersSchema.parse(await member.get('/transfers')).transfers;
}

/** Whether the member has all of a file: it may have been published while it was being written. */
function hasWhole(member: Member, name: string, bytes = 4 * mebibyte): boolean {
  return statSync(member.path(name), { throwIfNoEntry: false })?.size === bytes;
}

/** The time until `reader` has a new file of 4 MiB that `writer` wrote. */
async function takes(writer: Member, reader: Member, name: string): Promise<number> {
  const beganMs = performance.now();
  await writeFile(writer.path(name), randomBytes(4 * mebibyte));
  await expect.poll(() => hasWhole(reader, name), patience).toBe(true);
  return performance.now() - beganMs;
}

/** The size of a file that takes one and a half minutes at the limit of these tests: on any machine it is seen on its way. */
const longBytes = 90 * mebibyte;

/** Writes a small file while a long one is on its way to `reader`, and waits until that has it. */
async function overtakes(writer: Member, reader: Member, long: string): Promise<void> {
  const small = `small beside ${long}`;
  await expect.poll(async () => (await transfersTo(reader))[0]?.done ?? 0, patience).toBeGreaterThan(0);
  await writer.put(small, 'small');
  await expect.poll(() => reader.text(small), patience).toBe('small');
  expect(hasWhole(reader, long, longBytes)).toBe(false);
}

test('[CT20] a limit for sending: all others share it', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  expect((await change(ant, 'send_limit', '1 MiB/s')).status).toBe(200);
  const beganMs = performance.now();
  // 4 blocks, of which the first goes at once.
  expect(await takes(ant, bee, 'sent')).toBeGreaterThan(2_900);
  await expect.poll(() => hasWhole(cat, 'sent'), patience).toBe(true);
  // Both have 8 blocks.
  expect(performance.now() - beganMs).toBeGreaterThan(6_900);
  await cluster().settled();
});

test('[CT20] small files do not wait, and another limit takes effect at once, also for what is being sent', async () => {
  const ant = cluster().member('ant');
  await writeFile(ant.path('changed meanwhile'), randomBytes(longBytes));
  await overtakes(ant, cluster().member('bee'), 'changed meanwhile');
  expect((await change(ant, 'send_limit', 'none')).status).toBe(200);
  // With the limit it would take three minutes.
  await cluster().settled();
});

test('[CT20] a limit for receiving: the others are not slowed down, and small files do not wait', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  expect((await change(bee, 'receive_limit', '1 MiB/s')).status).toBe(200);
  expect(await takes(ant, bee, 'received')).toBeGreaterThan(2_900);
  await writeFile(ant.path('later'), randomBytes(longBytes));
  await overtakes(ant, bee, 'later');
  await expect.poll(() => hasWhole(cat, 'later', longBytes), patience).toBe(true);
  expect(hasWhole(bee, 'later', longBytes)).toBe(false);
  expect((await change(bee, 'receive_limit', 'none')).status).toBe(200);
  await cluster().settled();
});

test('[CT20] a rate that would have sources given up, or is none, is refused with a sentence', async () => {
  const ant = cluster().member('ant');
  for (const value of ['1 KiB/s', '0 B/s', 'fast', '-1 MiB/s', '2 MiB/h']) {
    const answer = await change(ant, 'send_limit', value);
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('send_limit must be none, a rate from 16 KiB/s, such as');
  }
});

test('[CT23] a limit for one member: it has the file later, and the others do not wait', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  const sentence = 'Sending to cat is limited to 256 KiB/s.';
  for (const member of [ant, bee]) {
    expect(await lockstep(['limit', '--send', '256 KiB/s cat', '--receive', 'none', member.folder])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Sending is not limited.\n${sentence}`),
    });
  }
  const size = 48 * mebibyte;
  const sizeOn = (member: Member): number | undefined =>
    statSync(member.path('for all'), { throwIfNoEntry: false })?.size;
  await writeFile(ant.path('for all'), randomBytes(size));
  await expect.poll(() => sizeOn(bee), patience).toBe(size);
  await expect
    .poll(async () => (await lockstep(['status', ant.folder])).out, patience)
    .toContain(`limit      ${sentence}`);
  expect((await lockstep(['transfers', '--once', ant.folder])).out).toContain(sentence);
  expect(sizeOn(cat)).not.toBe(size);
  // With the limit it would take more than a minute, also from both.
  for (const member of [ant, bee]) expect((await lockstep(['limit', '--send', 'none', member.folder])).code).toBe(0);
  await cluster().settled();
  await expect.poll(async () => (await ant.status()).limits, patience).toBeUndefined();
});

test('[CT23] a limit for receiving from one member does not delay what comes from others', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  expect(await lockstep(['limit', '--receive', '256 KiB/s cat', bee.folder])).toMatchObject({ code: 0, err: '' });
  await writeFile(cat.path('slow'), randomBytes(90 * mebibyte));
  await expect
    .poll(async () => (await bee.status()).limits, patience)
    .toEqual([{ direction: 'receive', member: 'cat', bytesPerSecond: 262_144 }]);
  await writeFile(ant.path('fast'), randomBytes(4 * mebibyte));
  await expect.poll(() => hasWhole(bee, 'fast'), patience).toBe(true);
  expect(statSync(bee.path('slow'), { throwIfNoEntry: false })?.size).not.toBe(90 * mebibyte);
  expect((await lockstep(['limit', '--receive', 'none', bee.folder])).code).toBe(0);
  await cluster().settled();
});

test('[CT23] [CL24] rules with hours hold by the local time, and are printed with those that follow', async () => {
  const bee = cluster().member('bee');
  const hour = new Date().getHours();
  const time = (hours: number): string => `${String((hour + hours) % 24).padStart(2, '0')}:00`;
  // An hour may end during the test.
  const rules = `10 MiB/s, 1 MiB/s ${time(0)}-${time(2)}`;
  const { code, out } = await lockstep(['limit', '--receive', rules, bee.folder]);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      new RegExp(
        `Receiving is limited to 1 MiB/s until ${time(2)}, then limited to 10 MiB/s until ${time(0)}\\.\n` +
          `  receive_limit: ${rules} \\(config\\.toml:\\d+\\)\n$`,
        's',
      ),
    ),
  });
  const taking = takes(cluster().member('ant'), bee, 'by day');
  // A limit is reported while it delays something.
  await expect
    .poll(async () => (await bee.status()).limits, patience)
    .toEqual([{ direction: 'receive', bytesPerSecond: mebibyte, until: time(2) }]);
  expect(await taking).toBeGreaterThan(2_900);
  await lockstep(['limit', '--receive', 'none', bee.folder]);
});

test('[CL24] a member that is not known is warned of, and rules that are none are refused', async () => {
  const ant = cluster().member('ant');
  const known = await lockstep(['limit', '--send', '1 MiB/s cow, 2 MiB/s bee', ant.folder]);
  expect(known).toMatchObject({ code: 0, err: expect.stringContaining('No other member is called cow') });
  expect(known.err).toContain('The others are bee and cat.');
  const refused = await lockstep(['limit', '--send', '2 MiB/s 08:00-25:00', ant.folder]);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringContaining('--send must be none, a rate from 16 KiB/s'),
  });
  const json = JSON.parse((await lockstep(['limit', '--json', ant.folder])).out);
  expect(json.limits[0]).toMatchObject({ key: 'send_limit', value: ['1 MiB/s cow', '2 MiB/s bee'] });
  expect((await lockstep(['limit', '--send', 'none', ant.folder])).err).toBe('');
});

test('[CL23] on a terminal the transfers are shown until nothing is on its way', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  expect((await change(bee, 'receive_limit', '256 KiB/s')).status).toBe(200);
  const whole = join(cluster().root, 'whole');
  await writeFile(whole, randomBytes(4 * mebibyte));
  await rename(whole, ant.path('shown'));
  await expect.poll(async () => (await transfersTo(bee)).length, patience).toBeGreaterThan(0);
  const command = `"${process.execPath}" "${lockstepProgram}" transfers "${bee.folder}"`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await text(child.stdout);
  expect(said).toContain('Arriving: ');
  expect(said).toMatch(/shown +ant +█*░+ +\d+ %/);
  // All of it has arrived, and is put in place now: a slow machine may take longer for that than the command looks. The last line is about what
  // was not sent at all: a file that is read while it is written, as those above may be.
  expect(said.trimEnd()).toMatch(
    /(Nothing is on its way|Waiting: 1 path\. The first is shown: [^\n]+)\.(\s+Did not have to be sent here [^\n]+\.)?$/,
  );
  await expect.poll(() => hasWhole(bee, 'shown'), patience).toBe(true);
});
