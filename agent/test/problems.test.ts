import { randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { addUnprivileged, giveToNobody, isRoot } from '../../testkit/machine/unprivileged.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { namesOf, subtree } from '../../testkit/tree.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';

const hasProblem = (member: Member, code: string) =>
  vi.waitFor(async () => expect(await member.problems()).toContain(code), { timeout: 20_000, interval: 100 });

const details = async (member: Member) => (await member.status()).problems.map(({ detail }) => detail);

const hasNoProblem = (member: Member) =>
  vi.waitFor(async () => expect(await member.problems()).toEqual([]), { timeout: 20_000, interval: 100 });

describe('two members', () => {
  const cluster = useCluster(['ant', 'bee']);

  test('[LC4] a log that is appended to 100 times a second costs few operations, and is whole at the end', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const beganMs = performance.now();
    for (let line = 0; line < 400; line++) {
      appendFileSync(ant.path('log'), `line ${line}\n`);
      await pause(10);
    }
    // On a busy machine it takes longer.
    const seconds = (performance.now() - beganMs) / 1_000;
    await cluster().settled();
    expect(await readFile(bee.path('log'), 'utf8')).toBe(await readFile(ant.path('log'), 'utf8'));
    const { out } = await lockstep(['log', '--json', '--path', 'log', '--lines', '1000', ant.folder]);
    const operations = out.trim().split('\n').length;
    expect(operations).toBeGreaterThan(1);
    expect(operations).toBeLessThan(seconds * 15);
  });

  test('[LC5] the others always show a prefix of a file that grows slowly', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const piece = (index: number): Buffer => Buffer.alloc(100_000, `${index} `);
    const whole = Buffer.concat(Array.from({ length: 40 }, (_, index) => piece(index)));
    for (let index = 0; index < 40; index++) {
      appendFileSync(ant.path('growing'), piece(index));
      await pause(100);
      const there = await readFile(bee.path('growing')).catch(() => Buffer.alloc(0));
      expect(there.equals(whole.subarray(0, there.length))).toBe(true);
    }
    await cluster().settled();
    expect(readFileSync(bee.path('growing')).equals(whole)).toBe(true);
  });

  test('[LC5] members that wait for a large file that is written without a pause name it, and get it when the writing stops', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const bytes = randomBytes(40_000_000);
    await writeFile(ant.path('busy'), bytes);
    const file = openSync(ant.path('busy'), 'r+');
    let at = 0;
    const writing = setInterval(() => {
      at = (at + 4_099) % bytes.length;
      writeSync(file, bytes, 0, 100, at);
      bytes.copy(bytes, at, 0, 100);
    }, 2);
    try {
      // A busy machine may write with a pause that is long enough to journal the file.
      await vi.waitFor(async () => {
        const { done, blocking } = await ant.wait({ for: 2, timeoutMs: 2_000 });
        expect({ done, blocking }).toMatchObject({
          done: false,
          blocking: [
            {
              path: 'busy',
              reason: expect.stringContaining('busy has changed or is changing, and that is not journaled yet'),
            },
          ],
        });
      }, 60_000);
      await writeFile(ant.path('other'), 'other');
      await vi.waitFor(async () => expect(await readFile(bee.path('other'), 'utf8')).toBe('other'), 20_000);
    } finally {
      clearInterval(writing);
      closeSync(file);
    }
    await cluster().settled();
    expect(readFileSync(bee.path('busy')).equals(bytes)).toBe(true);
  });

  test('[MT17] a file that must replace a directory waits for the pipe in it, and says so', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    await shell(ant.folder, 'mkdir -p d/sub; echo old > d/old; mkdir links; echo old > links/old');
    await cluster().settled();
    await run('mkfifo', [bee.path('d/pipe'), bee.path('links/pipe')]);
    await shell(ant.folder, 'rm -r d links; echo new > d; ln -s d links');
    const details = async (): Promise<string> =>
      (await bee.status()).problems.map(({ path, detail }) => `${path}: ${detail}`).join('\n');
    await vi.waitFor(
      async () => {
        expect(await details()).toMatch(/^d: .*is at d\/pipe: move it away/m);
        expect(await details()).toMatch(/^links: .*is at links\/pipe: move it away/m);
      },
      { timeout: 20_000, interval: 100 },
    );
    expect((await ant.wait({ for: 2, timeoutMs: 200 })).done).toBe(false);
    for (const pipe of ['d/pipe', 'links/pipe']) rmSync(bee.path(pipe));
    await cluster().settled();
    await hasNoProblem(bee);
    expect(await readFile(bee.path('links'), 'utf8')).toBe('new\n');
  });

  test.runIf(isRoot)(
    '[MT17] a directory that is a mount point stays, with a problem, until it is unmounted',
    async () => {
      const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
      await shell(ant.folder, 'mkdir -p m/mounted');
      await cluster().settled();
      const place = bee.path('m/mounted');
      await run('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0755', 'tmpfs', place]);
      const unmount = () => run('umount', [place]);
      onTestFinished(async () => {
        await unmount().catch(() => undefined);
      });
      await shell(ant.folder, 'rm -r m; echo new > m');
      await hasProblem(bee, 'path-in-the-way');
      // The agent may have the directory open for a moment.
      await vi.waitFor(unmount, 20_000);
      await cluster().settled();
      await hasNoProblem(bee);
      expect(await readFile(bee.path('m'), 'utf8')).toBe('new\n');
    },
  );
});

describe.runIf(isRoot)('a member whose user may not do everything', () => {
  const cluster = useCluster(['ant']);
  beforeAll(async () => {
    await addUnprivileged(cluster(), 'bee');
  });

  const both = () => [cluster().member('ant'), cluster().member('bee')] as const;

  test('[MT10] directories without permission are reported, nothing is deleted, and all is applied when it is granted', async () => {
    const [ant, bee] = both();
    await shell(
      ant.folder,
      'mkdir closed secret open; for d in closed secret open; do for n in 1 2 3; do echo $n > $d/f$n; done; done',
    );
    await cluster().settled();

    await run('chown', ['0:0', bee.path('closed'), bee.path('secret')]);
    await run('chmod', ['700', bee.path('secret')]);
    await shell(ant.folder, 'echo new > closed/new; echo new > open/new; rm closed/f1');
    await hasProblem(bee, 'path-permission');
    const closed = "secret cannot be read or written: give the agent's user permission for it and its directory.";
    await vi.waitFor(async () => expect(await details(bee)).toContain(closed), 20_000);
    await vi.waitFor(async () => expect(await readFile(bee.path('open/new'), 'utf8')).toBe('new\n'), 20_000);
    await bee.wait({ for: 1, timeoutMs: 500 });
    expect(namesOf(subtree(ant.tree(), 'secret'))).toEqual(['f1', 'f2', 'f3']);
    expect(namesOf(subtree(ant.tree(), 'closed'))).toEqual(['f2', 'f3', 'new']);
    expect(namesOf(subtree(bee.tree(), 'closed'))).toEqual(['f1', 'f2', 'f3']);

    await giveToNobody(bee.path('closed'), bee.path('secret'));
    await cluster().settled();
    await hasNoProblem(bee);
    expect(namesOf(subtree(bee.tree(), 'closed'))).toEqual(['f2', 'f3', 'new']);
  });

  test('[MT19] changes in a directory that its user has made read-only reach every member', async () => {
    const [ant, bee] = both();
    await shell(ant.folder, 'mkdir -p shut/sub tree/sub; for d in shut shut/sub tree/sub; do echo 1 > $d/f; done');
    await cluster().settled();
    await shell(ant.folder, 'chmod 555 shut shut/sub tree tree/sub');
    await cluster().settled();
    expect(await run('stat', ['-c', '%a', bee.path('shut/sub')])).toMatch('555');
    // As far as it remembers, this member has made none of these itself.
    await bee.restart();
    await cluster().connected();

    await shell(ant.folder, 'echo more >> shut/f; echo new > shut/new; mv shut/sub inner; rm -r tree');
    await cluster().settled();
    expect(bee.tree()).toEqual(ant.tree());
    expect(namesOf(subtree(bee.tree(), 'shut'))).toEqual(['f', 'new']);
    await hasNoProblem(bee);
  });

  test('[CT4] a file renamed to a path that this member cannot apply is still served from here, when no other member has it', async () => {
    const [ant, bee] = both();
    await shell(ant.folder, 'mkdir from barred; head -c 3000000 /dev/urandom > from/file');
    await cluster().settled();
    const content = await readFile(ant.path('from/file'));
    await run('chown', ['0:0', bee.path('barred')]);
    await shell(ant.folder, 'mv from/file barred/file');
    await hasProblem(bee, 'path-permission');
    await vi.waitFor(() => expect(namesOf(subtree(bee.tree(), 'from'))).toEqual([]), 20_000);
    await ant.kill();
    await rm(ant.path('barred'), { recursive: true });

    const cat = await cluster().add('cat');
    await vi.waitFor(async () => expect((await readFile(cat.path('barred/file'))).equals(content)).toBe(true), 20_000);
    await giveToNobody(bee.path('barred'));
    await cluster().settled([bee, cat]);
    expect((await readFile(bee.path('barred/file'))).equals(content)).toBe(true);
    await hasNoProblem(bee);
  });
});

test.runIf(isRoot)(
  '[MT10] a full disk: changes that fit continue, and the rest arrives when there is space',
  async () => {
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const disk = join(cluster.root, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
    onTestFinished(async () => {
      await run('umount', ['-l', disk]);
    });
    await run('head', ['-c', '60000000', '/dev/zero']).then((zeros) => writeFile(join(disk, 'ballast'), zeros));
    const bee = await cluster.add('bee', { folder: join(disk, 'bee') });
    await cluster.connected();
    await shell(ant.folder, 'head -c 25000000 /dev/urandom > large');
    await hasProblem(bee, 'disk-full');
    const noRoom = 'There is no room for large. Free some space; Lockstep tries again automatically.';
    await vi.waitFor(async () => expect(await details(bee)).toContain(noRoom), 20_000);
    const { freeBytes } = await bee.status();
    await writeFile(ant.path('small'), 'small');
    await vi.waitFor(async () => expect(await readFile(bee.path('small'), 'utf8')).toBe('small'), 20_000);
    expect((await ant.wait({ for: 2, timeoutMs: 200 })).done).toBe(false);
    // Room for a file that a measurement has found too large is noticed at the next one; for others there is an attempt after half a minute.
    await vi.waitFor(async () => expect((await bee.status()).freeBytes).not.toBe(freeBytes), 20_000);
    rmSync(join(disk, 'ballast'));
    await cluster.settled();
    await hasNoProblem(bee);
    await bee.kill();
  },
);

test('[CT30] a file that is larger than the system allows is a problem until it is smaller, and is not fetched all the time', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const limited = ['prlimit', '--fsize=20000000'];
  const bee = await cluster.add('bee', { start: { wrapper: limited } });
  await cluster.connected();
  await writeFile(ant.path('large'), randomBytes(30_000_000));
  await hasProblem(bee, 'file-too-large');
  const tooLarge = 'large is larger than this file system or a limit (ulimit -f) allows.';
  expect(await details(bee)).toEqual([tooLarge]);
  expect((await lockstep(['why', bee.path('large')])).out).toContain(tooLarge);
  await writeFile(ant.path('small'), 'small');
  await vi.waitFor(async () => expect(await readFile(bee.path('small'), 'utf8')).toBe('small'), 20_000);
  await bee.restart({ wrapper: limited });
  await hasProblem(bee, 'file-too-large');
  // Other failures are tried again within seconds.
  await pause(3_000);
  expect(await bee.get('/transfers')).toMatchObject({ transfers: [] });
  await writeFile(ant.path('large'), 'not large');
  await cluster.settled();
  await hasNoProblem(bee);
});

test('[WT4] too few inotify watches, or none at all, are reported, and changes without events are found by scans', async () => {
  const cluster = await startCluster(['ant']);
  const limited = 'echo 20 > /proc/sys/user/max_inotify_watches; exec "$@"';
  const within = (script: string) => ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
  const bee = await cluster.add('bee', { start: { wrapper: within(limited) } });
  const none = 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"';
  const cat = await cluster.add('cat', { start: { wrapper: within(none) } });
  await cluster.connected();
  await shell(bee.folder, 'for n in $(seq 60); do mkdir d$n; echo $n > d$n/file; done');
  await cluster.settled();
  await hasProblem(bee, 'watch-limit');
  await hasProblem(cat, 'watch-limit');
  // The number is counted at each scan: the first scan may have met only some of them.
  await vi.waitFor(async () => {
    const said = (await details(bee)).join();
    expect(said).toMatch(/^\d+ directories cannot be watched: .* raise fs\.inotify\.max_user_watches/);
  }, 20_000);
  await shell(bee.folder, 'for n in $(seq 60); do echo changed > d$n/file; done');
  await shell(cat.folder, 'mkdir unwatched; echo 1 > unwatched/file');
  const ant = cluster.member('ant');
  await vi.waitFor(
    () => {
      for (let n = 1; n <= 60; n++) expect(readFileSync(ant.path(`d${n}/file`), 'utf8'), `d${n}`).toBe('changed\n');
      expect(readFileSync(ant.path('unwatched/file'), 'utf8')).toBe('1\n');
    },
    { timeout: 120_000, interval: 200 },
  );
  await cluster.settled();
});

test('[WT3] if the kernel drops events while the agent is suspended by SIGSTOP, a scan finds the changes', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await shell(bee.folder, 'mkdir many; cd many; touch one other; seq -f old%g 200 | xargs touch');
  await cluster.settled();
  // Equal events in a row are one: writes to two files in turn fill the queue. All events of the changes after that are dropped.
  const queued = Number(await readFile('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  bee.signal('SIGSTOP');
  await shell(
    bee.path('many'),
    `exec 3>>one 4>>other; n=0; while [ $n -lt ${queued / 2} ]; do echo >&3; echo >&4; n=$((n + 1)); done
     for n in $(seq 1000); do echo $n > f$n; done; seq -f old%g 200 | xargs rm; mkdir last; echo last > last/file`,
  );
  bee.signal('SIGCONT');
  // No `wait` on bee, which would scan: it must find the changes that the overflow hid without one.
  await vi.waitFor(() => expect(namesOf(subtree(ant.tree(), 'many')).length).toBe(1_004), {
    timeout: 150_000,
    interval: 200,
  });
  await cluster.settled();
  expect((await stat(ant.path('many/f1000'))).size).toBe(5);
}, 400_000);
