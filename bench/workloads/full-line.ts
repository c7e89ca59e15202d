import type { Cluster } from '../../testkit/cluster.ts';
import { eventually } from '../../testkit/eventually.ts';
import { fillLine } from '../../testkit/load/full-line.ts';
import type { Member } from '../../testkit/member.ts';
import { percentile, type Result } from '../result.ts';

const delayMs = 8;
const megabytes = 60;

/** Round trips and small files while a film fills lines of 1 MB/s with a round trip of 16 ms. */
export async function fullLine(
  cluster: Cluster,
  [ant, bee, cat]: readonly [Member, Member, Member],
): Promise<Result[]> {
  for (const { name } of cluster.members) cluster.shapes(name, { delayMs, bytesPerSecond: 1_000_000 });
  // The mean of some seconds is shown: at first it is that of the unshaped line, or of agents that have just started.
  await eventually(
    async () => {
      const { members } = await ant.status();
      const isIdle = ({ rttMs }: { rttMs: number | null }): boolean =>
        rttMs !== null && rttMs >= 2 * delayMs && rttMs < 3 * delayMs;
      if (!members.every((member) => member.self || isIdle(member))) throw new Error('the line is not idle');
    },
    { timeoutMs: 120_000 },
  );
  const { idleMs, loadedMs, smallMs, transferMs, problems } = await fillLine(ant, [bee, cat], megabytes * 1_000_000);
  if (problems.length > 0) throw new Error(`problems while the line was full: ${problems.join(', ')}`);
  const idle = Math.max(...idleMs);
  const note = `${megabytes} MB at 1 MB/s; the idle round trip is ${idle.toFixed(1)} ms`;
  const shown = loadedMs.flat();
  return [
    {
      name: 'round trip on a full line of 1 MB/s, longest',
      unit: 'ms',
      lockstep: [Math.max(...shown)],
      target: { atMost: 2 * idle },
      goal: { atMost: 1.5 * idle },
      note,
    },
    ...[0.5, 1].map(
      (share): Result => ({
        name: `2-byte file on it, visible on both peers, ${share === 1 ? 'longest' : 'p50'}`,
        unit: 'ms',
        lockstep: [percentile(smallMs, share)],
        target: { atMost: 1_000 },
        goal: { atMost: 250 },
        note,
      }),
    ),
    {
      name: `film of ${megabytes} MB on it`,
      unit: 'ms',
      lockstep: [transferMs],
      target: { atMost: megabytes * 1_000 * 1.15 },
      goal: { atMost: megabytes * 1_000 * 1.08 },
      note,
    },
  ];
}
