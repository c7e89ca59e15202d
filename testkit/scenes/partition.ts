import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Lab, type LabMember, patienceMs } from '../labs/lab.ts';
import { allSettled } from '../level.ts';
import { namesOf, subtree, type Tree } from '../tree.ts';
import { compare } from './compare.ts';
import { onePerShape, splitsOf } from './splits.ts';
import type { Scene } from './stage.ts';

type Groups = readonly (readonly LabMember[])[];

const shown = (groups: Groups): string => groups.map((group) => group.map(({ name }) => name).join('+')).join(' | ');

/** The files that exist before the split; their names say how many groups will write to them. */
const common = ['all.txt', 'two.txt', 'one.txt', 'edited-and-deleted.txt', 'deleted.txt'];

const copyStamp = /\.conflict-.*(?=\.txt$)/;

/**
 * Makes the members of a group write one after the other, each when all of the group hold what the previous one wrote. So later writers
 * overwrite versions that they have seen. All groups write to `all.txt`, the first two to `two.txt`, the first to `one.txt`.
 */
async function writeIn(group: readonly LabMember[], index: number, room: string): Promise<void> {
  for (const member of group) {
    const write = (name: string): void => writeFileSync(member.path(room, name), `${name} by ${member.name}`);
    write(`own-of-${member.name}.txt`);
    write('all.txt');
    if (index < 2) write('two.txt');
    if (index === 0) {
      write('one.txt');
      for (const name of ['edited-and-deleted.txt', 'deleted.txt']) rmSync(member.path(room, name), { force: true });
    }
    if (index === 1) write('edited-and-deleted.txt');
    const { done } = await member.wait({ for: group.length });
    assert.ok(done, `${member.name} and its group do not hold what it wrote`);
  }
}

/** The expected contents by original name. One of them has the name, and each other one is in a conflict copy. */
function expected(groups: Groups): Map<string, string[]> {
  const last = (group: readonly LabMember[]): string => group.at(-1)?.name ?? '';
  const by = (name: string, writers: readonly string[]): [string, string[]] => [
    name,
    writers.map((writer) => `${name} by ${writer}`).sort(),
  ];
  const lasts = groups.map(last);
  return new Map([
    by('all.txt', lasts),
    by('two.txt', lasts.slice(0, 2)),
    by('one.txt', lasts.slice(0, 1)),
    by('edited-and-deleted.txt', lasts.slice(1, 2)),
    ...groups.flat().map(({ name }) => by(`own-of-${name}.txt`, [name])),
  ]);
}

/** The found contents in the same form; `bare` are the names that are not those of conflict copies. */
function found(tree: Tree, member: LabMember, room: string): { contents: Map<string, string[]>; bare: string[] } {
  const contents = new Map<string, string[]>();
  const names = namesOf(subtree(tree, room));
  for (const name of names) {
    const meant = name.replace(copyStamp, '');
    contents.set(meant, [...(contents.get(meant) ?? []), readFileSync(member.path(room, name), 'utf8')].sort());
  }
  return { contents, bare: names.filter((name) => !copyStamp.test(name)) };
}

async function survive(lab: Lab, groups: Groups, room: string): Promise<number> {
  await lab.split(groups);
  await Promise.all(groups.map((group, index) => writeIn(group, index, room)));
  await lab.heal();
  const tree = await allSettled(lab.members, patienceMs);
  const [first] = lab.members;
  assert.ok(first !== undefined);
  const { contents, bare } = found(tree, first, room);
  const wanted = expected(groups);
  const inOrder = (map: Map<string, string[]>): unknown => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(inOrder(contents), inOrder(wanted), `contents after the split ${shown(groups)}`);
  assert.deepEqual(bare.sort(), [...wanted.keys()].sort(), `names after the split ${shown(groups)}`);
  return [...contents.values()].reduce((sum, { length }) => sum + length - 1, 0);
}

function partition(names: readonly string[]): Scene {
  return {
    name: `partition-${names.length}`,
    title: `every split of ${names.length} members, with writes on all sides, and then healed`,
    async run(stage) {
      const lab = await stage.open(names);
      const all = splitsOf(lab.members);
      const splits = stage.short && names.length > 3 ? onePerShape(all) : all;
      const [first] = lab.members;
      assert.ok(first !== undefined);
      for (const index of splits.keys()) {
        mkdirSync(first.path(`split-${index}`));
        for (const name of common) writeFileSync(first.path(`split-${index}`, name), 'before the split');
      }
      await allSettled(lab.members, patienceMs);
      for (const [index, groups] of splits.entries()) {
        const copies = await survive(lab, groups, `split-${index}`);
        stage.did(
          `split ${shown(groups)}: each write is there or was overwritten by a user who had seen it; ${copies} lost races, as many copies`,
        );
      }
      if (splits.length < all.length) stage.did(`took one split of each shape, ${splits.length} of ${all.length}`);
      await compare(stage, lab);
    },
  };
}

export const partitionOf3 = partition(['ant', 'bee', 'cat']);
export const partitionOf5 = partition(['ant', 'bee', 'cat', 'dog', 'elk']);
