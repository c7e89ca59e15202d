import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Setting, Settings } from '@lockstep/shared/api';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { changeRules } from '../../config/change-rules.ts';
import { configKeys } from '../../config/config-keys.ts';
import { configTemplate } from '../../config/config-template.ts';
import { type ConfigOverrides, configPath, loadConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/schema.ts';
import { SettingsFile } from '../../member-dir/settings-file.ts';
import { limitNotes } from '../queries/rate-limits.ts';

let directory: string;
let served: ServedCluster;
let app: FastifyInstance;
let applied: Config[];
let path: string;

const webhook = 'https://hooks.example.net/T0/very-secret';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-settings-'));
  path = configPath(directory);
  await mkdir(join(directory, '.lockstep'));
  await writeFile(
    path,
    configTemplate({ name: 'ant', notify_webhook: webhook, notify_command: ['/bin/page', '--token=x'] }),
    { mode: 0o640 },
  );
  await chmod(path, 0o640);
  served = await ServedCluster.open();
  await start();
});

afterEach(() => rm(directory, { recursive: true, force: true }));

/** Serves the settings that are in the file now, as after a start of the agent. */
async function start(overrides: ConfigOverrides = {}): Promise<void> {
  applied = [];
  const settings = new SettingsFile({
    ...{ directory, overrides, log: served.log },
    notesOf: (key) => limitNotes(served.engine, key),
    loaded: await loadConfig(directory, overrides),
    apply: (config) => {
      applied.push(config);
      served.engine.change(config);
    },
  });
  app = await served.server({ member: { ...served.member, settings } });
}

async function read(): Promise<Settings & { of: (key: string) => Setting }> {
  const answer = await app.inject('/api/v1/settings');
  expect(answer.statusCode).toBe(200);
  const settings: Settings = answer.json();
  expect(answer.headers.etag).toBe(`"${settings.version}"`);
  const of = (key: string): Setting => settings.settings.find((each) => each.key === key) ?? expect.fail(key);
  return { ...settings, of };
}

async function change(key: string, value: unknown, version?: string) {
  const headers = { 'if-match': `"${version ?? (await read()).version}"` };
  const answer = await app.inject({
    method: 'PATCH',
    url: '/api/v1/settings',
    payload: { key, value } as object,
    headers,
  });
  return { status: answer.statusCode, said: answer.json() };
}

describe('[SE1] the settings', () => {
  test('are all listed, with value, default, source and what a change does', async () => {
    const { settings, of, file } = await read();
    expect(file).toBe(path);
    expect(settings.map(({ key }) => key)).toEqual(configKeys.map(({ key }) => key));
    for (const { effect, title } of settings)
      expect([title, effect]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\.$/)]);
    expect(of('name')).toMatchObject({
      value: 'ant',
      source: { kind: 'file', where: 'config.toml:6' },
      takesEffect: 'restart',
    });
    expect(of('history_age')).toMatchObject({
      value: '30d',
      default: '30d',
      source: { kind: 'default' },
      takesEffect: 'now',
    });
    expect(of('notify_about').choices).toEqual(['down', 'conflict', 'disk', 'problem']);
  });

  test('with secrets show only a part that tells nothing', async () => {
    const { of } = await read();
    expect(of('notify_webhook').value).toBe('https://hooks.example.net/…');
    expect(of('notify_command').value).toEqual(['/bin/page', '…']);
    await writeFile(path, `notify_webhook = "ftp://${webhook.slice(8)}"\n`);
    const { body } = await app.inject('/api/v1/settings');
    expect(JSON.parse(body).problem).toMatch(/notify_webhook must be a URL .*; its value may be a secret/);
    expect(body).not.toContain('very-secret');
  });

  test('of another text than at the start say what the next start takes', async () => {
    await writeFile(path, 'name = "bee"\nhistory_age = "7d"\n');
    const { of } = await read();
    expect(of('name')).toMatchObject({ value: 'ant', next: 'bee' });
    expect(of('history_age')).toMatchObject({ value: '30d', next: '7d', source: { where: 'config.toml:2' } });
    expect(of('log_level').next).toBeUndefined();
    await change('history_age', '8d');
    // The name was edited by hand: it is for the next start, like all such edits.
    expect(applied.map(({ name, historyAgeMsMax }) => [name, historyAgeMsMax])).toEqual([['ant', 8 * 86_400_000]]);
  });
});

test('[CT24] a limit says what holds now and later, and which of its rules names no member', async () => {
  expect((await read()).of('send_limit')).toMatchObject({ value: 'none', notes: ['Sending is not limited.'] });
  const rules = ['10 MiB/s', '2 MiB/s 08:00-18:00', '1 MiB/s cat'];
  const { status, said } = await change('send_limit', rules);
  expect(status).toBe(200);
  expect(said.settings.find(({ key }: Setting) => key === 'send_limit')).toMatchObject({
    value: rules,
    notes: [
      expect.toBeOneOf([
        'Sending is limited to 10 MiB/s until 08:00, then limited to 2 MiB/s until 18:00.',
        'Sending is limited to 2 MiB/s until 18:00, then limited to 10 MiB/s until 08:00.',
      ]),
      'Sending to cat is limited to 1 MiB/s.',
    ],
    warning: 'No other member is called cat: such a rule has no effect until one joins. There is no other member yet.',
  });
  expect((await read()).of('history_age')).not.toHaveProperty('notes');
});

test('[CT23] the rules of a limit are refused with what is allowed', async () => {
  for (const value of ['2 MiB/s 08:00-25:00', '1 MiB/h', 'none cat', ['2 MiB/s', 'fast']]) {
    const { status, said } = await change('send_limit', value);
    expect(status).toBe(409);
    expect(said.error.message).toMatch(
      /send_limit must be none, a rate from 16 KiB\/s, .*\(hours from 00:00 to 24:00\); it is "/,
    );
  }
  expect((await change('send_limit', ['2 MiB/s', 'fast'])).said.error.message).toMatch(/it is "fast"\.$/);
});

describe('[SE2] a change', () => {
  test('is written, keeps all other lines and the mode, and takes effect at once', async () => {
    const before = await readFile(path, 'utf8');
    const { status, said } = await change('history_age', '7d');
    expect(status).toBe(200);
    expect(said.settings.find(({ key }: Setting) => key === 'history_age')).toMatchObject({
      value: '7d',
      default: '30d',
    });
    expect(await readFile(path, 'utf8')).toBe(before.replace('# history_age = "30d"\n', '$&history_age = "7d"\n'));
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(applied.map(({ historyAgeMsMax }) => historyAgeMsMax)).toEqual([7 * 86_400_000]);
    expect((await change('history_age', null)).status).toBe(200);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await read()).of('history_age').value).toBe('30d');
    expect(applied.at(-1)?.historyAgeMsMax).toBe(30 * 86_400_000);
  });

  test('that needs a restart says so by its next value', async () => {
    expect((await change('name', 'bee')).status).toBe(200);
    expect((await read()).of('name')).toMatchObject({ value: 'ant', next: 'bee' });
    expect(applied).toEqual([]);
  });

  test('of several at once is refused but for the first, and none is lost', async () => {
    const { version } = await read();
    const answers = await Promise.all(['1d', '2d', '3d'].map((age) => change('history_age', age, version)));
    expect(answers.map(({ status }) => status)).toEqual([200, 412, 412]);
    expect((await read()).of('history_age').value).toBe('1d');
  });

  test('is logged without its value', async () => {
    await change('name', 'unloggable');
    expect(served.log.lines.map(({ fields }) => fields)).toContainEqual({ key: 'name' });
    expect(JSON.stringify(served.log.lines)).not.toContain('unloggable');
  });
});

describe('[SE3] [SE4] a change is refused, and the file stays as it is,', () => {
  const kept = async (key: string, value: unknown, version?: string) => {
    const before = await readFile(path, 'utf8');
    const answer = await change(key, value, version);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect(applied).toEqual([]);
    return { status: answer.status, ...answer.said.error };
  };

  test('of a value that lockstep up refuses, with the same sentence', async () => {
    const { message, status } = await kept('history_age', '1s');
    expect(status).toBe(409);
    expect(message).toMatch(
      /config\.toml:\d+: history_age must be a duration from 1m to 3650d, such as "30d"; it is "1s"\.$/,
    );
    expect((await kept('notify_about', ['down', 'moon'])).message).toMatch(/notify_about must be .*; it is "moon"/);
    expect((await kept('log_level', ['info'])).message).toMatch(/log_level must be/);
  });

  test('of a file that was edited meanwhile', async () => {
    const { version } = await read();
    await writeFile(path, 'name = "cat"\n');
    expect(await kept('history_age', '7d', version)).toMatchObject({
      status: 412,
      code: 'version-mismatch',
      version: (await read()).version,
    });
  });

  test('of a file with a mistake, or without text', async () => {
    await writeFile(path, 'name = "ant"\nhistory_age = "old"\n');
    expect((await read()).problem).toMatch(/config\.toml:2: history_age must be/);
    expect((await kept('log_level', 'info')).message).toMatch(/config\.toml:2: history_age must be/);
    await writeFile(path, '');
    expect((await kept('log_level', 'info')).message).toMatch(/is empty, possibly after a power cut/);
    await rm(path);
    expect((await read()).problem).toMatch(/is missing/);
    expect((await change('log_level', 'info', 'x')).status).toBe(409);
  });

  test('of a link, which it would replace', async () => {
    await rename(path, `${path}.mine`);
    await symlink(`${path}.mine`, path);
    expect((await kept('log_level', 'info')).message).toMatch(/is a symbolic link/);
  });

  test('of a setting that the environment or an option decides', async () => {
    await start({ env: { LOCKSTEP_HISTORY_AGE: '9d' }, flags: { log_level: 'debug' } });
    expect((await read()).of('history_age')).toMatchObject({ value: '9d', source: { kind: 'environment' } });
    expect(await kept('history_age', '7d')).toMatchObject({
      status: 400,
      message: expect.stringMatching(/LOCKSTEP_HISTORY_AGE/),
    });
    expect((await kept('log_level', 'info')).message).toMatch(/the option --log-level of lockstep up/);
  });

  test('without a version, and of an unknown setting', async () => {
    const payload = { key: 'name', value: 'bee' };
    expect((await app.inject({ method: 'PATCH', url: '/api/v1/settings', payload })).statusCode).toBe(428);
    const headers = { 'if-match': '*' };
    expect((await app.inject({ method: 'PATCH', url: '/api/v1/settings', payload, headers })).statusCode).toBe(400);
    expect((await kept('colour', 'red')).message).toBe('There is no setting "colour".');
  });

  test('of what could open the member, run a program or cut a person off', async () => {
    const byHand = configKeys.filter(({ field }) => changeRules[field].takesEffect === 'by-hand').map(({ key }) => key);
    expect(byHand.sort()).toEqual(
      [
        'allow_control',
        'listen',
        'addresses',
        'peers',
        'dashboard',
        'dashboard_certificate',
        'dashboard_guard',
        'dashboard_key',
        'notify_command',
        'notify_webhook',
      ].sort(),
    );
    for (const key of byHand) expect((await kept(key, 'x')).message).toMatch(/is changed in config\.toml only/);
  });
});

test('[SE3] a browser that is not logged in sees and changes nothing', async () => {
  const remote = await served.server({ member: served.member });
  await remote.listen({ host: '127.0.0.1', port: 0 });
  const address = remote.server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/api/v1/settings`;
  expect((await fetch(url)).status).toBe(401);
  const options = {
    method: 'PATCH',
    body: '{"key":"name","value":"x"}',
    headers: { 'content-type': 'application/json' },
  };
  expect((await fetch(url, options)).status).toBe(401);
});
