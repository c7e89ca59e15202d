import { writeFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { SqliteDatabase } from '../src/os/sqlite.ts';

const cluster = useCluster(['ant', 'bee']);

/** Sets the mode of a file in the journal, also to an invalid one; 07777 is the largest that others accept. */
function setMode(member: Member, path: string, mode: number): void {
  const journal = new SqliteDatabase(member.state('journal.db'));
  expect(journal.prepare('UPDATE ops SET mode = ? WHERE path = ?').run(mode, path).changes).toBeGreaterThan(0);
  journal.close();
}

test('[SY20] sessions that end repeatedly are a problem on both sides, are tried less often, and no member is synchronised', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await bee.stop();
  await writeFile(ant.path('written'), 'on ant');
  await ant.wait({ for: 1 });
  await ant.stop();
  setMode(ant, 'written', 0o10000);
  await ant.start();
  await bee.start({ ready: false });
  for (const [member, other, reason] of [
    [ant, 'bee', /it refused a frame from here: invalid frame: .*mode is not a whole number/],
    [bee, 'ant', /invalid frame: .*mode is not a whole number/],
  ] as const) {
    await vi.waitFor(
      async () => {
        const { problems, synchronised } = await member.status();
        expect(problems).toContainEqual(
          expect.objectContaining({ code: 'session-failing', member: other, detail: expect.stringMatching(reason) }),
        );
        expect(synchronised).toBe(false);
      },
      { timeout: 60_000, interval: 100 },
    );
    const text = (await lockstep(['status', member.folder])).out;
    expect(text).toMatch(new RegExp(`session-failing +${other}: `));
    expect(await member.metric('lockstep_synchronised')).toBe(0);
  }
  await ant.stop();
  setMode(ant, 'written', 0o644);
  await ant.start();
  await cluster().settled();
  await vi.waitFor(
    async () => {
      for (const member of [ant, bee])
        expect(await member.status()).toMatchObject({ problems: [], synchronised: true });
    },
    { timeout: 60_000, interval: 500 },
  );
});
