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

/** The operations that each member journaled for these names, for the message of a failure. */
async function story(lab: Lab, names: readonly string[]): Promise<string> {
  const pages = names.flatMap((name) =>
    lab.members.map(async (member) => ({
      at: member.name,
      page: await member.get(`/ops?path=${loadRoom}/gone/${name}`),
    })),
  );
  return JSON.stringify(await Promise.all(pages));
}

/** Checks that the users' kept files exist, that their deleted files do not, and that staging is empty. */
async function compareLoad(lab: Lab, load: Load, tree: Tree): Promise<void> {
  for (const member of lab.members) assert.deepEqual(load.lost(member, tree), [], `lost on ${member.name}`);
  const returned = load.returned(tree);
  assert.deepEqual(returned, [], `came back after their users had deleted them: ${await story(lab, returned)}`);
  assert.deepEqual(load.vanished, [], 'disappeared before its user, who alone deletes it, did so');
  assert.equal(load.fault(), undefined);
  for (const member of lab.members) {
    await eventually(() =>
      assert.deepEqual(readdirSync(member.state('staging')), [], `left in staging on ${member.name}`),
    );
  }
}

/** Starts stopped members, waits until all hold everything, and compares folders and journals; with a load, also its users' files. */
export async function compare(stage: Stage, lab: Lab, load?: Load): Promise<Tree> {
  for (const member of lab.members) if (!member.running) await member.start();
  await allConnected(lab.members, patienceMs);
  const tree = await allSettled(lab.members, 2 * patienceMs);
  await allVerified(lab.members);
  stage.saw(`the same ${tree.size} entries in all ${lab.members.length} folders, and journals that agree with them`);
  if (load !== undefined) {
    await compareLoad(lab, load, tree);
    stage.saw(
      `all ${load.kept} files that no user changed later, none of ${load.removed} that were deleted for good, and each file that was saved whole, unchanged`,
    );
  }
  return tree;
}
