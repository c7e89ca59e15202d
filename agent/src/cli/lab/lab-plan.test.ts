import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../config/load-config.ts';
import { clusterKeyPath } from '../../member-dir/state-directory.ts';
import { labMembers, labMembersMax, portBaseMax, readPlan, writePlan } from './lab-plan.ts';
import { checkPort, clearLab, lockLab, prepareMembers } from './lab-prepare.ts';

let lab = '';

beforeEach(async () => {
  lab = await mkdtemp(join(tmpdir(), 'lockstep-lab-'));
});

afterEach(async () => {
  await rm(lab, { recursive: true, force: true });
});

test('the next start uses the same members and ports', async () => {
  const first = await readPlan(lab, {});
  expect(first).toEqual({ dashboards: 4800, members: 3 });
  await writePlan(lab, { ...first, members: 5 });
  expect(await readPlan(lab, {})).toEqual({ dashboards: 4800, members: 5 });
  expect(await readPlan(lab, { members: 2, dashboards: 5700 })).toEqual({ dashboards: 5700, members: 2 });
  await writeFile(join(lab, 'lab.json'), JSON.stringify({ portBase: 4700, members: 4 }));
  expect(await readPlan(lab, {})).toEqual({ dashboards: 4800, members: 4 });
  await writeFile(join(lab, 'lab.json'), '{');
  await expect(readPlan(lab, {})).rejects.toThrow('lab.json is damaged');
});

test('the members of docker-compose.yml have the same names and dashboards', async () => {
  const { services } = parse(await readFile(new URL('../../../../docker-compose.yml', import.meta.url), 'utf8'), {
    merge: true,
  });
  const composed = Object.keys(services).filter((name) => services[name].hostname === name);
  const members = labMembers(lab, { ...(await readPlan(lab, {})), members: composed.length });
  expect(composed).toEqual(members.map(({ name }) => name));
  for (const { name, dashboard } of members) {
    const port = dashboard.split(':')[1];
    expect(services[name].environment.LOCKSTEP_DASHBOARD, name).toContain(`_PORT:-${port}}`);
  }
});

test('all ports are legal and different', () => {
  const members = labMembers(lab, { dashboards: portBaseMax, members: labMembersMax });
  const ports = members
    .flatMap(({ listen, dashboard }) => [listen, dashboard])
    .map((text) => Number(text.split(':')[1]));
  expect(new Set(ports).size).toBe(2 * labMembersMax);
  expect(Math.max(...ports)).toBeLessThanOrEqual(65_535);
});

test('members share one cluster, and moving the ports keeps their other settings', async () => {
  await prepareMembers(labMembers(lab, { dashboards: 4700, members: 2 }));
  const bee = join(lab, 'bee');
  const path = join(bee, '.lockstep', 'config.toml');
  await writeFile(path, (await readFile(path, 'utf8')).replace('# log_level = "warn"', 'log_level = "debug"'));
  await prepareMembers(labMembers(lab, { dashboards: 5700, members: 3 }));
  const keys = await Promise.all(
    ['ant', 'bee', 'cat'].map((name) => readFile(clusterKeyPath(join(lab, name)), 'utf8')),
  );
  expect(new Set(keys).size).toBe(1);
  const { config } = await loadConfig(bee);
  expect(config).toMatchObject({
    name: 'bee',
    listen: { port: 5802 },
    dashboard: { port: 5702 },
    peers: ['127.0.0.1:5801', '127.0.0.1:5803'],
    logLevel: 'debug',
  });
});

test('only one lab runs in a place, and a fresh one removes all but the lock', async () => {
  const lock = await lockLab(lab);
  await expect(lockLab(lab)).rejects.toMatchObject({ code: 'already-running' });
  await prepareMembers(labMembers(lab, { dashboards: 4700, members: 2 }));
  await clearLab(lab);
  expect(await readdir(lab)).toEqual(['lab.lock']);
  lock.release();
  (await lockLab(lab)).release();
});

test('a taken port is named, with what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(checkPort(`127.0.0.1:${port}`, 'member ant')).rejects.toMatchObject({
    code: 'port-in-use',
    message: expect.stringMatching(new RegExp(`Port ${port}, which member ant needs.*--port-base`)),
  });
  server.close();
});
