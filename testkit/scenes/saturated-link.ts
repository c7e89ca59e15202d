import assert from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import { fillLine } from '../load/full-line.ts';
import { compare } from './compare.ts';
import type { Scene } from './stage.ts';

const shape = { delayMs: 8, bytesPerSecond: 1_000_000 };
/** The round trip of the empty link: both ways, and some milliseconds of the agents on a busy machine. */
const emptyMs = 2 * shape.delayMs;
/**
 * Without a bound of what is under way it would be some 3 s: 256 KiB in the link, and what the sender's socket takes. Less would measure how
 * busy this machine is: 233 ms were seen. The figures of an idle one are in bench, and core/traffic/send-window.test.ts tests the bound.
 */
const roundTripMsMax = 1_000;
const smallMsMax = 5_000;

export const saturatedLink: Scene = {
  name: 'saturated-link',
  title: 'links of 8 ms each way and 1 MB/s, filled by one large file while small ones are written',
  needs: 'links',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    const [ant, bee, cat] = [lab.member('ant'), lab.member('bee'), lab.member('cat')];
    for (const [one, other] of [
      [ant, bee],
      [ant, cat],
      [bee, cat],
    ] as const) {
      lab.shape(one, other, shape);
    }
    stage.did('made all links slow: 8 ms each way, 1 MB/s');
    await eventually(async () => {
      const { members } = await ant.status();
      for (const { name, self, rttMs } of members) assert.ok(self || (rttMs ?? 0) >= emptyMs, `round trip to ${name}`);
    });
    const before = lab.connections;
    const megabytes = stage.short ? 25 : 60;
    const { idleMs, loadedMs, smallMs, transferMs, problems } = await fillLine(ant, [bee, cat], megabytes * 1_000_000);
    stage.did(`wrote a file of ${megabytes} MB on ant, and one of two bytes each second`);
    const shown = loadedMs.flat();
    const worst = { roundTripMs: Math.max(...shown), smallMs: Math.max(...smallMs) };
    // Of a machine that is busy for a moment only some are long, but of a long queue in the link all are.
    const middleMs = shown.toSorted((a, b) => a - b)[Math.floor(shown.length / 2)];
    assert.ok(middleMs !== undefined, 'the transfer was too short to measure it');
    assert.ok(middleMs < roundTripMsMax, `round trips of ${shown.map((ms) => ms.toFixed(0)).join(', ')} ms under load`);
    assert.ok(worst.smallMs < smallMsMax, `a small file took ${worst.smallMs} ms`);
    assert.deepEqual(problems, []);
    assert.equal(lab.connections - before, 0, 'sessions that ended and were opened again');
    stage.saw(
      `round trips of ${idleMs.map((ms) => ms.toFixed(0)).join(' and ')} ms before and at most ${worst.roundTripMs.toFixed(0)} ms ` +
        `during the transfer of ${(transferMs / 1_000).toFixed(0)} s; ${smallMs.length} small files within ${worst.smallMs.toFixed(0)} ms`,
    );
    await compare(stage, lab);
  },
};
