import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { settingsSchema, transfersSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
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

/** Whether the member has all of a file of 4 MiB: it may have been published while it was being written. */
function hasWhole(member: Member, name: string): boolean {
  return statSync(member.path(name), { throwIfNoEntry: false })?.size === 4 * mebibyte;
}

/** When a file came into the folder of a member: nothing changes it afterwards. */
function cameMs(member: Member, name: string): number {
  return statSync(member.path(name)).ctimeMs;
}

/** The time until `reader` has a new file of 4 MiB that `writer` wrote, and a small one that was written after it had come first. */
async function takes(writer: Member, reader: Member, name: string): Promise<number> {
  const beganMs = performance.now();
  await writeFile(writer.path(name), randomBytes(4 * mebibyte));
  await expect.poll(async () => (await transfersTo(reader)).length, patience).toBeGreaterThan(0);
  await writer.put(`small beside ${name}`, 'small');
  await expect.poll(() => hasWhole(reader, name), patience).toBe(true);
  const tookMs = performance.now() - beganMs;
  expect(cameMs(reader, `small beside ${name}`)).toBeLessThan(cameMs(reader, name));
  return tookMs;
}

test('[CT20] a limit for sending: all others share it, and small files do not wait', async () => {
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

test('[CT20] another limit takes effect at once, also for what is being sent', async () => {
  const ant = cluster().member('ant');
  await writeFile(ant.path('changed meanwhile'), randomBytes(90 * mebibyte));
  await expect
    .poll(async () => (await transfersTo(cluster().member('bee')))[0]?.done ?? 0, patience)
    .toBeGreaterThan(0);
  expect((await change(ant, 'send_limit', 'none')).status).toBe(200);
  // With the limit it would take three minutes.
  await cluster().settled();
});

test('[CT20] a limit for receiving: the others are not slowed down', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  expect((await change(bee, 'receive_limit', '1 MiB/s')).status).toBe(200);
  expect(await takes(ant, bee, 'received')).toBeGreaterThan(2_900);
  await writeFile(ant.path('later'), randomBytes(4 * mebibyte));
  for (const member of [cat, bee]) await expect.poll(() => hasWhole(member, 'later'), patience).toBe(true);
  expect(cameMs(cat, 'later')).toBeLessThan(cameMs(bee, 'later'));
  await cluster().settled();
});

test('[CT20] a rate that would have sources given up, or is none, is refused with a sentence', async () => {
  const ant = cluster().member('ant');
  for (const value of ['1 KiB/s', '0 B/s', 'fast', '-1 MiB/s', '2 MiB/h']) {
    const answer = await change(ant, 'send_limit', value);
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('send_limit must be none, or a rate from 256 KiB/s, such as');
  }
});

test('[CL23] on a terminal the transfers are shown until nothing is on its way', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  expect((await change(bee, 'receive_limit', '1 MiB/s')).status).toBe(200);
  const whole = join(cluster().root, 'whole');
  await writeFile(whole, randomBytes(4 * mebibyte));
  await rename(whole, ant.path('shown'));
  await expect.poll(async () => (await transfersTo(bee)).length, patience).toBeGreaterThan(0);
  const command = `"${process.execPath}" "${lockstepProgram}" transfers "${bee.folder}"`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await text(child.stdout);
  expect(said).toContain('Arriving: ');
  expect(said).toMatch(/shown +ant +█*░+ +\d+ %/);
  expect(said.trimEnd().endsWith('Nothing is on its way.')).toBe(true);
  expect(hasWhole(bee, 'shown')).toBe(true);
});
