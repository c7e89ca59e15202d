import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MemberReport, Progress, Transfers } from '@lockstep/shared/api';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const bytesPerSecond = 1_000_000;
/** Two thirds are in large files, the rest in files that travel with their operations. */
const large = { files: 8, bytes: 4_000_000 };
const small = { files: 320, bytes: 50_000 };
const totalBytes = large.files * large.bytes + small.files * small.bytes;
async function fill(folder: string): Promise<void> {
  for (const [name, { files, bytes }] of Object.entries({ large, small })) {
    await mkdir(join(folder, name));
    for (let n = 0; n < files; n++) await writeFile(join(folder, name, `f${n}`), randomBytes(bytes));
  }
}

/** The files of a folder and their bytes, without what belongs to the agent. */
async function used(folder: string): Promise<{ files: number; bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('.lockstep'));
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function seenOn(member: Member, name: string): Promise<MemberReport> {
  const report = (await member.status()).members.find((one) => one.name === name);
  if (report === undefined) throw new Error(`${member.name} does not know ${name}`);
  return report;
}

function shareOf(progress: Progress | undefined): number {
  return progress === undefined ? Number.NaN : progress.there / progress.total;
}

test('[SY40] [SY41] [API11] every member and the command line say how many bytes a newcomer has, as its disk does', async () => {
  const cluster = await startCluster(['ant', 'bee'], { proxied: true });
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await fill(ant.folder);
  await ant.wait({ for: 'all' });
  const cat = await cluster.add('cat', { up: false });
  cluster.shapes('cat', { bytesPerSecond });
  await cat.start({ ready: false });

  await eventually(async () => expect(shareOf((await seenOn(cat, 'cat')).progress)).toBeGreaterThan(0.33), {
    timeoutMs: 120_000,
  });
  // The rest would take minutes: on any machine it is on its way until all have been asked.
  cluster.shapes('cat', { bytesPerSecond: bytesPerSecond / 5 });
  const before = await used(cat.folder);
  // The others hear it a moment later.
  const reports = await Promise.all(
    [ant, bee, cat].map((member) =>
      eventually(async () => {
        const report = await seenOn(member, 'cat');
        expect(report.bytes).toBeGreaterThanOrEqual(before.bytes);
        return report;
      }),
    ),
  );
  const transfers = (await ant.get('/transfers')) as Transfers;
  const after = await used(cat.folder);
  const said = await lockstep(['status', cat.folder]);

  for (const { progress, files = -1, bytes = -1, behind } of reports) {
    expect(behind).toBeGreaterThanOrEqual(0);
    expect(progress).toMatchObject({ total: totalBytes });
    expect(shareOf(progress)).toBeGreaterThan(0.25);
    expect(shareOf(progress)).toBeLessThan(0.6);
    // Both links may carry something at once.
    expect(progress?.bytesPerSecond).toBeGreaterThan(0.05 * bytesPerSecond);
    expect(progress?.bytesPerSecond).toBeLessThan(3 * bytesPerSecond);
    expect(progress?.secondsLeft).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(after.bytes);
    expect(files).toBeLessThanOrEqual(after.files);
  }
  expect(said.out).toMatch(/^cat {2}catching up \d\d %$/m);
  expect(said.out).toMatch(
    new RegExp(`^arriving +[\\d.]+ MB of ${formatBytes(totalBytes)}, [\\d.]+ [kM]B/s, .+ left$`, 'm'),
  );
  expect(said.out).not.toContain(formatItems(large.files + small.files, 'file'));

  expect(transfers.arriving).toEqual({ left: 0, bytesPerSecond: 0, secondsLeft: null });
  expect(transfers.leaving.left).toBeGreaterThan(0.3 * totalBytes);
  expect(transfers.leaving.bytesPerSecond).toBeGreaterThan(0);
  expect(transfers.resyncs).toMatchObject([{ name: 'cat', progress: { total: totalBytes } }]);
  // The small files travel with their operations, and the large ones after them.
  await eventually(async () => {
    const { departures } = (await ant.get('/transfers')) as Transfers;
    expect(departures).toContainEqual(expect.objectContaining({ toName: 'cat', size: large.bytes }));
  });

  cluster.shapes('cat', {});
  await cluster.settled(undefined, 120_000);
  for (const member of [ant, bee, cat]) {
    await eventually(async () => {
      const report = await seenOn(member, 'cat');
      expect(report).toMatchObject({ files: large.files + small.files, bytes: totalBytes });
      expect(report.progress).toBeUndefined();
    });
  }
});

test('[CL27] between two versions of a file that grows `transfers` says that it is changing, and nothing once it is still', async () => {
  const [ant] = (await startCluster(['ant'])).members as readonly Member[] as [Member];
  const path = join(ant.folder, 'film.mkv');
  let isGrowing = true;
  const written = (async () => {
    for (; isGrowing; await pause(5)) await appendFile(path, randomBytes(65_536));
  })();
  try {
    await eventually(async () => {
      const { changing } = (await ant.get('/transfers')) as Transfers;
      expect(changing).toMatchObject([{ path: 'film.mkv', readInS: expect.any(Number) }]);
      expect((await lockstep(['transfers', ant.folder])).out).toMatch(
        /^Changing: film\.mkv\. It is (read again .+: a new version may follow|being read)\.$/m,
      );
    });
  } finally {
    isGrowing = false;
    await written;
  }
  await eventually(async () => {
    expect((await lockstep(['transfers', ant.folder])).out.trim()).toBe('Nothing is on its way.');
  });
});
