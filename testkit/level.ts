import assert from 'node:assert/strict';
import { copiesReportSchema } from '@lockstep/shared/api';
import type { MemberApi } from './api.ts';
import { eventually } from './eventually.ts';
import { diffTrees, type Tree } from './tree.ts';

/** The number of differences in a failure's message: the first ones show what is wrong. */
const differencesMax = 20;

/** Resolves when each of these members has a session with each other one. */
export async function allConnected(members: readonly MemberApi[], timeoutMs = 60_000): Promise<void> {
  for (const member of members) {
    await eventually(
      async () => {
        const { members: seen } = await member.status();
        const open = seen.filter(({ connected, state }) => connected && state === 'active').map(({ name }) => name);
        const missing = members.map(({ name }) => name).filter((name) => !open.includes(name));
        assert.deepEqual(missing, [], `not connected with ${member.name}: ${missing.join(', ')}`);
      },
      { timeoutMs },
    );
  }
}

/** Resolves when neither of the two has a session with the other. */
export async function bothApart(one: MemberApi, other: MemberApi, timeoutMs = 60_000): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    await eventually(
      async () => {
        const seen = (await from.status()).members.find(({ name }) => name === to.name);
        assert.ok(!seen?.connected, `${from.name} is connected with ${to.name}`);
      },
      { timeoutMs },
    );
  }
}

/**
 * Resolves with the common tree when everything on any disk is on all disks. First each member has scanned its disk and all hold what it
 * knows, then the journals are equal and nothing is pending. Then the folders must be equal at the first comparison.
 * `heldBy`: the number of members whose acknowledgements each member can get; fewer than all if two cannot reach each other.
 */
export async function allSettled(
  members: readonly MemberApi[],
  timeoutMs = 90_000,
  heldBy: number = members.length,
): Promise<Tree> {
  const untilMs = performance.now() + timeoutMs;
  for (const member of members) {
    const result = await member.wait({
      for: heldBy,
      timeoutMs: Math.ceil(Math.max(1_000, untilMs - performance.now())),
    });
    assert.deepEqual(result.blocking, [], `the wait on ${member.name} is blocked`);
    assert.ok(result.done, `the wait on ${member.name} has timed out`);
  }
  const leftMs = Math.max(2_000, untilMs - performance.now());
  await eventually(() => assertLevelled(members), { timeoutMs: leftMs });
  return sameTrees(members);
}

async function assertLevelled(members: readonly MemberApi[]): Promise<void> {
  const states = await Promise.all(
    members.map(async (member) => {
      const { digest, version, pending, conflicts } = await member.status();
      return { digest, version, pending, conflicts };
    }),
  );
  const [first] = states;
  for (const [index, state] of states.entries()) {
    assert.deepEqual(state, { ...first, pending: 0, conflicts: 0 }, `${members[index]?.name} is not level`);
  }
}

/**
 * Resolves when members on demand have scanned their disks, know and show the same, and lack no copy that they are to keep. It asks once a
 * second: the members need the processor time.
 */
export async function allCopied(members: readonly MemberApi[], timeoutMs = 90_000): Promise<void> {
  for (const member of members) await member.rescan();
  await eventually(
    async () => {
      await assertLevelled(members);
      for (const member of members) {
        const report = copiesReportSchema.parse(await member.get('/copies'));
        for (const { name, counts, lacking } of report.members) {
          assert.ok(counts, `${name} does not count for ${member.name}`);
          assert.equal(lacking, undefined, `${member.name} says that ${name} lacks copies`);
        }
      }
    },
    { timeoutMs, intervalMs: 1_000 },
  );
}

/** Compares the folders now. */
export function sameTrees(members: readonly MemberApi[]): Tree {
  const trees = members.map((member) => member.tree());
  const [first] = members;
  const [tree] = trees;
  if (first === undefined || tree === undefined) throw new Error('There is no member to compare');
  const differences = members.flatMap((member, index) =>
    diffTrees(tree, trees[index] ?? new Map(), [first.name, member.name]),
  );
  assert.deepEqual(differences.slice(0, differencesMax), [], `${differences.length} differences of the folders`);
  return tree;
}

/** Runs `lockstep verify` everywhere. */
export async function allVerified(members: readonly MemberApi[]): Promise<void> {
  for (const member of members) {
    const { ok, ...found } = await member.verify();
    assert.ok(ok, `verify on ${member.name} has found: ${JSON.stringify(found)}`);
  }
}
