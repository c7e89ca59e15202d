import assert from 'node:assert/strict';
import { type Lab, patienceMs } from '../labs/lab.ts';
import { allConnected, allSettled, allVerified } from '../level.ts';
import type { Load } from '../load/load.ts';
import { namesOf, type Tree } from '../tree.ts';
import type { Stage } from './stage.ts';

/** The names of the conflict copies in a tree. */
export function conflictCopies(tree: Tree): readonly string[] {
  return namesOf(tree).filter((name) => name.includes('.conflict-'));
}

/** Starts who is down, waits until all is everywhere, and compares folders and journals; with a load, what its users kept too. */
export async function compare(stage: Stage, lab: Lab, load?: Load): Promise<Tree> {
  for (const member of lab.members) if (!member.running) await member.start();
  await allConnected(lab.members, patienceMs);
  const tree = await allSettled(lab.members, 2 * patienceMs);
  await allVerified(lab.members);
  stage.saw(`the same ${tree.size} entries in all ${lab.members.length} folders, and journals that agree with them`);
  if (load !== undefined) {
    for (const member of lab.members) assert.deepEqual(load.lost(member, tree), [], `lost on ${member.name}`);
    assert.deepEqual(load.returned(tree), [], 'came back after their users had deleted them');
    assert.equal(load.fault(), undefined);
    stage.saw(
      `all ${load.kept} files that nobody changed later, none of ${load.removed} that were deleted for good, each file that was saved whole as it was saved`,
    );
  }
  return tree;
}
