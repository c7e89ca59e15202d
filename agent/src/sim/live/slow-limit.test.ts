import { expect, onTestFinished, test } from 'vitest';
import { virtualContent } from '../disk/content.ts';
import { LiveCluster } from './live-cluster.ts';

const mebibyte = 1_048_576;
const filmBlocks = 30;
/** The time of one copy, in seconds, for an origin that sends 64 KiB/s. */
const copySeconds = filmBlocks * 16;

interface Spread {
  /** Members with these names do not get the film. */
  readonly without?: readonly string[];
  /** Members on demand, besides the five others. */
  readonly onDemand?: number;
  /** Runs 4 s after the film was written. */
  readonly meanwhile?: (cluster: LiveCluster) => void;
}

/** Writes a film to a machine with a limit, and five others. Resolves when each has it that shall, with the time and the blocks that left. */
async function spread({ without = [], onDemand = 0, meanwhile }: Spread) {
  const failures: string[] = [];
  const cluster = new LiveCluster({
    names: ['origin', 'ant', 'bee', 'cat', 'dog', 'eel'],
    failed: (what) => failures.push(what),
  });
  onTestFinished(() => cluster.close());
  const others = cluster.machines.slice(1);
  for (let index = 0; index < onDemand; index++) cluster.add(`server-${index}`, { isOnDemand: true });
  for (const machine of cluster.machines) machine.start();
  const { length } = cluster.machines;
  await cluster.until(() => cluster.machines.every(({ engine }) => engine?.peers.ready().length === length - 1));
  const { engine } = cluster.machine('origin');
  engine?.context.limits.send.limit([{ bytesPerSecond: 65_536 }]);
  const startedMs = cluster.scheduler.nowMs;
  cluster.user('origin').write('film', 'film', virtualContent('film', filmBlocks * mebibyte));
  await cluster.until(() => cluster.scheduler.nowMs > startedMs + 4_000);
  meanwhile?.(cluster);
  const left = others.filter((machine) => without.every((name) => machine !== cluster.machine(name)));
  await cluster.until(() => left.every(({ journal }) => journal.totals.counts().disk.files === 1), 3_600_000);
  expect(failures).toEqual([]);
  const sentBytes = engine?.peers.all().reduce((sum, { sent }) => sum + sent.total, 0) ?? 0;
  return { seconds: (cluster.scheduler.nowMs - startedMs) / 1_000, sentBlocks: sentBytes / mebibyte };
}

test('[CT20] [CT21] blocks for members that are gone use up no limit, and their parts are fetched by the next ones', async () => {
  const kill = (cluster: LiveCluster): void => {
    for (const name of ['bee', 'cat']) cluster.machine(name).crash(true);
  };
  const { seconds, sentBlocks } = await spread({ without: ['bee', 'cat'], meanwhile: kill });
  expect(seconds).toBeLessThan(1.1 * copySeconds);
  expect(sentBlocks).toBeLessThan(1.1 * filmBlocks);
});

test('[CT21] the part of a member whose disk is full leaves the origin about once', async () => {
  const fill = (cluster: LiveCluster): void => {
    cluster.machine('bee').volume.full = 'disk';
  };
  const { seconds, sentBlocks } = await spread({ without: ['bee'], meanwhile: fill });
  expect(seconds).toBeLessThan(1.4 * copySeconds);
  expect(sentBlocks).toBeLessThan(1.2 * filmBlocks);
});

test('[CT21] the others do not wait for the part of a member that receives slowly', async () => {
  const slow = (cluster: LiveCluster): void => {
    cluster.machine('bee').engine?.context.limits.receive.limit([{ bytesPerSecond: 16_384 }]);
  };
  const { seconds, sentBlocks } = await spread({ without: ['bee'], meanwhile: slow });
  expect(seconds).toBeLessThan(1.25 * copySeconds);
  expect(sentBlocks).toBeLessThan(1.1 * filmBlocks);
});

test('[CT21] no part is left to members on demand', async () => {
  const { seconds, sentBlocks } = await spread({ onDemand: 3 });
  expect(seconds).toBeLessThan(1.1 * copySeconds);
  expect(sentBlocks).toBeLessThan(1.1 * filmBlocks);
});

test.each<[string, (cluster: LiveCluster) => void]>([
  ['at once', (cluster) => cluster.user('origin').rename('film', 'renamed')],
  [
    'by a copy, and the end of the old name',
    (cluster) => {
      cluster.user('origin').write('renamed', 'film', virtualContent('film', filmBlocks * mebibyte));
      cluster.scheduler.after(20_000, () => cluster.user('origin').remove('film'));
    },
  ],
])('[CT21] a file that is renamed while it moves still leaves its origin about once: %s', async (_, rename) => {
  const later = (cluster: LiveCluster): void => {
    cluster.scheduler.after(100_000, () => rename(cluster));
  };
  const { seconds, sentBlocks } = await spread({ meanwhile: later });
  expect(seconds).toBeLessThan(1.1 * copySeconds);
  expect(sentBlocks).toBeLessThan(1.1 * filmBlocks);
});
