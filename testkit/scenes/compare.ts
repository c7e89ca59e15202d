import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { type Lab, patienceMs } from '../labs/lab.ts';
import { allConnected, allSettled, allVerified } from '../level.ts';
import type { Load } from '../load/load.ts';
import { namesOf, type Tree } from '../tree.ts';
import type { Stage } from './stage.ts';
import { loadRoom } from './users.ts';

/** The names of the conflict copies in a tree. */
export function conflictCopies(tree: Tree): readonly string[] {
  return namesOf(tree).filter((name) => name.includes('.conflict-'));
}

/** Resolves when no member reports a problem any more. */
export async function noProblems(lab: Lab): Promise<void> {
  for (const member of lab.members) {
    await eventually(async () => assert.deepEqual(await member.problems(), [], `problems of ${member.name}`), {
      timeoutMs: patienceMs,
    });
  }
}

/** What each member journaled at these names, for a failure. */
async function story(lab: Lab, names: readonly string[]): Promise<string> {
  const pages = names.flatMap((name) =>
    lab.members.map(async (member) => ({
      at: member.name,
      page: await member.get(`/ops?path=${loadRoom}/gone/${name}`),
    })),
  );
  return JSON.stringify(await Promise.all(pages));
}

/** What users kept is there, what they deleted for good is not, and nothing is left over from the way to that. */
async function compareLoad(lab: Lab, load: Load, tree: Tree): Promise<void> {
  for (const member of lab.members) assert.deepEqual(load.lost(member, tree), [], `lost on ${member.name}`);
  const returned = load.returned(tree);
  assert.deepEqual(returned, [], `came back after their users had deleted them: ${await story(lab, returned)}`);
  assert.deepEqual(load.vanished, [], 'was gone before its user, and nobody else, was to delete it');
  assert.equal(load.fault(), undefined);
  for (const member of lab.members) {
    await eventually(() =>
      assert.deepEqual(readdirSync(member.state('staging')), [], `left in staging on ${member.name}`),
    );
  }
}

/** Starts who is down, waits until all is everywhere, and compares folders and journals; with a load, what its users kept too. */
export async function compare(stage: Stage, lab: Lab, load?: Load): Promise<Tree> {
  for (const member of lab.members) if (!member.running) await member.start();
  await allConnected(lab.members, patienceMs);
  const tree = await allSettled(lab.members, 2 * patienceMs);
  await allVerified(lab.members);
  stage.saw(`the same ${tree.size} entries in all ${lab.members.length} folders, and journals that agree with them`);
  if (load !== undefined) {
    await compareLoad(lab, load, tree);
    stage.saw(
      `all ${load.kept} files that nobody changed later, none of ${load.removed} that were deleted for good, each file that was saved whole as it was saved`,
    );
  }
  return tree;
}
