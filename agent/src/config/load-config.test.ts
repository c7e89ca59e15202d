import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configKeys } from './config-keys.ts';
import { configTemplate } from './config-template.ts';
import { configPath, loadConfig } from './load-config.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-config-'));
  await mkdir(join(directory, '.lockstep'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function mistakesIn(text: string, overrides = {}): Promise<string> {
  await writeFile(configPath(directory), text);
  const failure = await loadConfig(directory, overrides).then(
    () => expect.fail('the configuration was accepted'),
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(LockstepError);
  expect((failure as LockstepError).code).toBe('config-invalid');
  return (failure as LockstepError).message.replaceAll(`${configPath(directory)}:`, 'config.toml:');
}

describe('each mistake names its line, its key and what is allowed', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a bad port', '# one\nlisten = "127.0.0.1:70000"\n', 'config.toml:2: listen must be HOST:PORT'],
    ['no port', 'listen = "127.0.0.1"', 'config.toml:1: listen must be HOST:PORT'],
    ['a number instead of a text', '\n\nname = 7', 'config.toml:3: name must be 1 to 40 letters'],
    ['a name with a slash', 'name = "a/b"', 'it is "a/b"'],
    ['a text instead of a list', 'peers = "127.0.0.1:1"', 'config.toml:1: peers must be a list of HOST:PORT'],
    [
      'an element on its own line',
      'peers = [\n  "127.0.0.1:4701",\n  "nonsense",\n]\n',
      'config.toml:3: peers must be a list of HOST:PORT, such as ["192.0.2.7:4700"]; it is "nonsense".',
    ],
    ['a peer on every interface', 'peers = ["0.0.0.0:4700"]', 'config.toml:1: peers must be'],
    ['an unknown level', 'log_level = "loud"', 'log_level must be debug, info, warn or error; it is "loud".'],
    ['a duration without a unit', 'rescan_interval = "600"', 'must be a duration from 1s to 30d'],
    ['a size in megabytes', 'history_size = "5 MB"', 'units B, KiB, MiB, GiB, TiB'],
    ['a misspelt key', 'name = "ant"\nlisten_adress = "a:1"', 'config.toml:2: there is no key listen_adress.'],
    [
      'a near key',
      '# c\nrescan-intervall = "1m"',
      'config.toml:2: there is no key rescan-intervall. Did you mean rescan_interval?',
    ],
    [
      'an unknown table',
      'name = "ant"\n\n[colours]\nred = 1',
      'config.toml:3: there is no key colours. The keys are name,',
    ],
    ['a line that is not TOML', 'name = "ant"\nlisten = \n', 'config.toml:2: this is not valid TOML'],
    ['a key given twice', 'name = "ant"\nname = "bee"\n', 'config.toml:2: this is not valid TOML'],
  ];
  test.each(cases)('[CL1] %s', async (_name, text, expected) => {
    expect(await mistakesIn(text)).toContain(expected);
  });

  test('[CL1] all mistakes are reported at once', async () => {
    const message = await mistakesIn('name = ""\nlisten = "x"\ndashbord = "y"\n');
    expect(message.split('\n')).toHaveLength(3);
    expect(message).toContain('config.toml:3: there is no key dashbord. Did you mean dashboard?');
  });

  test('[CL1] an environment variable and a flag are named as such', async () => {
    expect(await mistakesIn('# nothing set\n', { env: { LOCKSTEP_PEERS: 'a:1, b' } })).toContain(
      'environment variable LOCKSTEP_PEERS must be a list of HOST:PORT',
    );
    expect(await mistakesIn('# nothing set\n', { flags: { listen: 'x' } })).toContain('--listen must be HOST:PORT');
  });
});

test('[CL1] a flag overrides the environment, that the file, and that the default', async () => {
  await writeFile(configPath(directory), 'name = "ant"\nlisten = "127.0.0.1:1"\ndashboard = "127.0.0.1:2"\n');
  const { config, entries } = await loadConfig(directory, {
    env: { LOCKSTEP_LISTEN: '127.0.0.1:11', LOCKSTEP_DASHBOARD: '127.0.0.1:12', LOCKSTEP_PEERS: 'a:1,[::1]:2' },
    flags: { dashboard: '127.0.0.1:22' },
  });
  expect(config).toMatchObject({
    name: 'ant',
    listen: { host: '127.0.0.1', port: 11 },
    dashboard: { host: '127.0.0.1', port: 22 },
    peers: ['a:1', '[::1]:2'],
    rescanIntervalMs: 600_000,
  });
  const sources = Object.fromEntries(entries.map(({ key, source }) => [key, source]));
  expect(sources).toMatchObject({
    name: { kind: 'file', where: 'config.toml:1' },
    listen: { kind: 'environment', where: 'LOCKSTEP_LISTEN' },
    dashboard: { kind: 'flag', where: '--dashboard' },
    history_size: { kind: 'default' },
  });
});

test('[CL6] a missing file does not mean the defaults', async () => {
  await expect(loadConfig(directory, { flags: { listen: '127.0.0.1:1' } })).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringMatching(/config\.toml is missing.*\n.*lockstep config --write/),
  });
});

test('[CL1] without settings in the file every key has its default', async () => {
  await writeFile(configPath(directory), '# nothing set\n');
  const { config, entries } = await loadConfig(directory);
  expect(config.listen).toEqual({ host: '0.0.0.0', port: 4700 });
  expect(entries).toHaveLength(configKeys.length);
});

describe('the generated config.toml', () => {
  test('[CL1] has a comment for every key and is read back unchanged', async () => {
    const text = configTemplate({ name: 'ant', listen: '127.0.0.1:4701', peers: ['127.0.0.1:4702'] });
    for (const { key } of configKeys) expect(text).toMatch(new RegExp(`^# .+\\n(?:# )?${key} = `, 'm'));
    await writeFile(configPath(directory), text);
    const { config } = await loadConfig(directory);
    expect(config).toMatchObject({ name: 'ant', listen: { port: 4701 }, peers: ['127.0.0.1:4702'] });
  });

  test('[CL1] shows valid defaults', async () => {
    await writeFile(configPath(directory), configTemplate({}).replaceAll(/^# (\w+ = )/gm, '$1'));
    const written = await loadConfig(directory);
    await writeFile(configPath(directory), '# nothing set\n');
    expect(written.config).toEqual((await loadConfig(directory)).config);
  });
});
