import assert from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import { shell } from '../programs.ts';
import { compare } from './compare.ts';
import type { Scene } from './stage.ts';

const stalls = { share: 0.01, ms: 1_000 };
const bytesPerSecond = 2_000_000;

export const slowLink: Scene = {
  name: 'slow-link',
  title: 'links of 60 and 120 ms each way with 2 MB/s, where 1 % of the sent data stalls for a second',
  needs: 'links',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    const [ant, bee, cat] = [lab.member('ant'), lab.member('bee'), lab.member('cat')];
    lab.shape(ant, bee, { delayMs: 60, bytesPerSecond, stalls });
    lab.shape(ant, cat, { delayMs: 120, bytesPerSecond, stalls });
    lab.shape(bee, cat, { delayMs: 120, bytesPerSecond, stalls });
    stage.did('made the links slow: 60 ms between ant and bee, 120 ms from both to cat');
    const before = lab.connections;
    const megabytes = stage.short ? 20 : 200;
    const small = stage.short ? 500 : 5_000;
    await Promise.all([
      shell(ant.folder, `mkdir slow; for n in $(seq ${small}); do echo $n > slow/f$n; done`),
      shell(ant.folder, `head -c ${megabytes}000000 /dev/urandom > large-of-ant`),
      shell(
        cat.folder,
        `head -c ${megabytes / 2}000000 /dev/urandom > large-of-cat; mkdir back; for n in $(seq 100); do echo $n > back/f$n; done`,
      ),
    ]);
    stage.did(
      `wrote ${small} small files and one of ${megabytes} MB on ant, 100 and one of ${megabytes / 2} MB on cat`,
    );
    await compare(stage, lab);
    assert.equal(lab.connections - before, 0, 'sessions that ended and were opened again');
    const roundTrips: string[] = [];
    for (const [{ name }, delayMs] of [
      [bee, 60],
      [cat, 120],
    ] as const) {
      await eventually(async () => {
        const rttMs = (await ant.status()).members.find((seen) => seen.name === name)?.rttMs ?? 0;
        assert.ok(rttMs >= 2 * delayMs, `ant measures ${rttMs} ms to ${name}`);
        roundTrips.push(`${rttMs.toFixed(0)} ms to ${name}`);
      });
    }
    const problems = (await Promise.all(lab.members.map((member) => member.problems()))).flat();
    assert.deepEqual(problems, []);
    stage.saw(`no session has ended; ant measures ${roundTrips.join(' and ')}`);
  },
};
