import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run } from '../../testkit/programs.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

/** The damages of a file by a power cut or a failing disk. */
const damages: readonly (readonly [string, (text: string) => string | Buffer])[] = [
  ['emptied', () => ''],
  ['cut to its half', (text) => text.slice(0, Math.floor(text.length / 2))],
  ['filled with zeros', (text) => Buffer.alloc(Buffer.byteLength(text))],
];

const cluster = useCluster(['ant', 'bee']);

/** Files whose content the agent can replace, and the log message about each. */
const repaired: readonly (readonly [file: string, said: RegExp | undefined])[] = [
  ['instance.json', /instance\.json was damaged and is written again/],
  ['addresses.json', /addresses\.json cannot be read or is damaged/],
  ['identity.crt', /identity\.crt was missing or damaged; it was made again from identity\.key/],
  ['running.json', undefined],
];

/** Files whose content the agent cannot replace, and the advice to the user. */
const refused: readonly (readonly [file: string, advice: string])[] = [
  ['cluster.key', 'Copy .lockstep/cluster.key again from a member of the cluster, or restore it from a backup.'],
  ['identity.key', 'Restore identity.key and identity.crt from a backup, or remove the .lockstep directory'],
  ['mounts.json', 'Mount all disks inside the folder as before, then remove that file.'],
];

/** Stops the member and returns the text of a state file, which it makes if it is missing. */
async function textOf(member: Member, file: string): Promise<string> {
  await member.stop();
  const path = member.state(file);
  if ((await stat(path).catch(() => undefined)) === undefined) {
    await writeFile(path, file === 'mounts.json' ? '[]' : '{"pid":1,"startedAt":0}');
  }
  return readFile(path, 'utf8');
}

/** Starts the member that refused starts have left stopped: it continues once the file is as it was. */
async function startAgain(): Promise<void> {
  const bee = cluster().member('bee');
  if (!bee.running) await bee.start();
  await cluster().connected();
}

describe.each(damages)('[ST5] %s', (_, damage) => {
  afterAll(startAgain);

  test.each(repaired)('%s is written again, and the member continues', async (file, said) => {
    const bee = cluster().member('bee');
    await eventually(async () => expect((await stat(bee.state('addresses.json'))).size).toBeGreaterThan(3));
    const { member } = await bee.status();
    const text = await textOf(bee, file);
    await writeFile(bee.state(file), damage(text));
    bee.log.length = 0;
    await bee.start();
    // Its log arrives here by another way than its sentence that it is ready.
    if (said !== undefined) await eventually(() => expect(bee.log.join('\n')).toMatch(said));
    // The files that earlier starts have written again are whole.
    expect(bee.log.filter((line) => line.includes('damaged') && !line.includes(file))).toEqual([]);
    expect((await bee.status()).member.id).toBe(member.id);
    await cluster().connected();
    await writeFile(bee.path(`after-${file}`), String(damage(text)));
    await cluster().settled();
  });

  test.each(refused)('%s: the start fails, names the file and says what to do', async (file, advice) => {
    const bee = cluster().member('bee');
    const text = await textOf(bee, file);
    await writeFile(bee.state(file), damage(text));
    const { code, err } = await lockstep(['up', bee.folder]);
    expect(code).toBe(1);
    expect(err).toContain(bee.state(file));
    expect(err).toContain(advice);
    await writeFile(bee.state(file), text);
  });
});

test('[ST5] [CL4] running.json is lost while the agent runs: commands say that it runs, and how to find it', async () => {
  const bee = cluster().member('bee');
  const record = await readFile(bee.state('running.json'), 'utf8');
  for (const damage of [() => rm(bee.state('running.json')), () => writeFile(bee.state('running.json'), '{')]) {
    await damage();
    for (const args of [['status'], ['wait'], ['doctor']]) {
      const { code, out, err } = await lockstep([...args, bee.folder]);
      expect(code).toBe(1);
      expect(out + err).toContain(`${bee.folder} is in use by a process that cannot be reached`);
      expect(out + err).toContain(`fuser ${bee.state('lock.db')}`);
      expect(out + err).not.toMatch(/No agent runs|is taken by another program/);
    }
  }
  await writeFile(bee.state('running.json'), record);
  expect((await lockstep(['status', bee.folder])).code).toBe(0);
});

/** Starts and examines the stopped member with another entry under the name of a state file, and puts the file back. */
async function withInPlaceOf(member: Member, file: string, make: (path: string) => Promise<unknown>) {
  await member.stop();
  const aside = `${member.folder}.aside`;
  await rename(member.state(file), aside).catch(() => undefined);
  await make(member.state(file));
  // Killed if it waits: SIGTERM does not end a process that is within open(2).
  const wrapper = ['timeout', '-s', 'KILL', '120'];
  const started = await lockstep(['up', member.folder], { wrapper });
  const examined = await lockstep(['doctor', member.folder], { wrapper });
  await rm(member.state(file), { recursive: true });
  await rename(aside, member.state(file)).catch(() => undefined);
  return { started, examined };
}

const refusedKinds = [
  'cluster.key',
  'identity.key',
  'identity.crt',
  'instance.json',
  'config.toml',
  'mounts.json',
  'journal.db',
  'lock.db',
];

describe('another entry, or other settings', () => {
  afterAll(startAgain);

  test.each([...refusedKinds, 'running.json'])(
    '[ST5] a directory with the name of %s: start and doctor name it and say what to do',
    async (file) => {
      const bee = cluster().member('bee');
      await bee.stop();
      const { started, examined } = await withInPlaceOf(bee, file, (path) => mkdir(path));
      expect(started.code).toBe(1);
      expect(started.err).toContain(bee.state(file));
      expect(started.err).not.toMatch(/^ {4}at |right to read it/m);
      expect(examined.code).toBe(1);
      expect(examined.out).toContain(bee.state(file));
      expect(examined.out).not.toContain('right to read it');
    },
  );

  test.each(refusedKinds)(
    '[ST5] a FIFO with the name of %s: start and doctor name it and do not wait',
    async (file) => {
      const bee = cluster().member('bee');
      const { started, examined } = await withInPlaceOf(bee, file, (path) => run('mkfifo', [path]));
      expect(started.code).toBe(1);
      expect(started.err).toContain(bee.state(file));
      expect(started.err).toMatch(/not a (regular )?file/);
      expect(examined.code).toBe(1);
      expect(examined.out).toContain(bee.state(file));
      expect(examined.out).toMatch(/not a (regular )?file/);
    },
  );

  test('[ST5] a FIFO with the name of a file that the agent writes: it is replaced', async () => {
    const bee = cluster().member('bee');
    await bee.stop();
    const names = ['running.json', 'running.json.new', 'addresses.json', 'addresses.json.new'];
    for (const name of names) await rm(bee.state(name), { force: true });
    await run(
      'mkfifo',
      names.map((name) => bee.state(name)),
    );
    await bee.start();
    await cluster().connected();
    await eventually(async () => {
      for (const name of ['running.json', 'addresses.json']) expect((await stat(bee.state(name))).isFile()).toBe(true);
    });
  });

  test('[ST5] mounts.json holds something else: the start fails with a sentence', async () => {
    const bee = cluster().member('bee');
    await bee.stop();
    await writeFile(bee.state('mounts.json'), '{"a":1}');
    const { code, err } = await lockstep(['up', bee.folder]);
    await rm(bee.state('mounts.json'));
    expect(code).toBe(1);
    expect(err).toContain(
      'mounts.json is damaged. Mount all disks inside the folder as before, then remove that file.',
    );
  });

  test.each([
    ['emptied', () => '', 1, 'is empty, possibly after a power cut'],
    ['filled with zeros', (text: string) => '\0'.repeat(text.length), 1, 'contains zeros instead of text'],
    ['cut within a line', (text: string) => text.slice(0, text.indexOf('listen = ') + 12), 2, 'is not valid TOML'],
  ] as const)(
    '[ST5] [CL6] config.toml, %s: the start fails, names the file and says what to do',
    async (_, damage, code, said) => {
      const bee = cluster().member('bee');
      const text = await textOf(bee, 'config.toml');
      await writeFile(bee.state('config.toml'), damage(text));
      const ended = await lockstep(['up', bee.folder]);
      expect(ended.code).toBe(code);
      expect(ended.err).toContain(bee.state('config.toml'));
      expect(ended.err).toContain(said);
      if (code === 1) {
        expect(ended.err).toContain('lockstep config --write --name NAME');
        expect(await lockstep(['config', '--write', '--name', 'bee', bee.folder])).toMatchObject({ code: 0 });
      }
      await writeFile(bee.state('config.toml'), text);
    },
  );
});
