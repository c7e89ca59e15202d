import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { diffTrees, readTree, subtree, type Tree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { applySteps } from '../src/fs/fault-point.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

const trio = () => [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')] as const;

/** One entry of each kind for apply: new, replaced, changed, renamed, removed; small and of several blocks. */
const prepare = `
  mkdir -p d/sub gone/sub moved; ln -s old link
  for n in 1 2 3 4 5 6 7 8 9; do echo old $n > f$n; echo old $n > d/sub/f$n; echo old $n > gone/sub/f$n; echo $n > moved/f$n; done
  head -c 1500000 /dev/zero | tr '\\0' o > large; echo old > becomes-directory; mkdir becomes-file; echo in > becomes-file/in`;
const change = `
  for n in 1 2 3 4 5 6; do echo changed $n > f$n; echo new $n > new$n; done; chmod 600 f7 f8; touch -d 2001-01-01 f9
  rm -r gone; mv moved renamed; mv d/sub/f1 d/sub/g1; rm d/sub/f2; ln -sfn new link; head -c 1500000 /dev/zero | tr '\\0' n > large
  mkdir -p made/deep; echo x > made/deep/file; rm becomes-directory; mkdir becomes-directory; echo in > becomes-directory/in
  rm -r becomes-file; echo file > becomes-file; head -c 1200000 /dev/zero | tr '\\0' m > large-new`;

/** The entries in a directory of a member, by their paths in the folder. */
const inRoom = (member: Member, room: string): Tree =>
  new Map([...readTree(member.path(room))].map(([name, entry]) => [`${room}/${name}`, entry]));

test('[MT3] SIGKILL before any step of apply leaves the old or the new, and a restart finishes', async () => {
  const [ant, bee] = trio();
  const faults = [
    ...applySteps.map((step) => `${step}:1`),
    ...(['stage', 'keep', 'rename', 'remove'] as const).map((step) => `${step}:5`),
  ];
  const rooms = faults.map((fault) => fault.replace(':', '-'));
  await shell(ant.folder, `for room in ${rooms.join(' ')}; do (mkdir $room; cd $room; ${prepare}); done`);
  const before = await cluster().settled();
  const after = new Map(before);
  await bee.stop();
  for (const [index, fault] of faults.entries()) {
    // Each start finishes what the kill before it has left, and meets its own with the changes in one more room.
    await shell(ant.path(rooms[index] ?? ''), change);
    await ant.wait({ for: 2 });
    for (const [name, entry] of inRoom(ant, rooms[index] ?? '')) after.set(name, entry);
    await bee.start({ env: { LOCKSTEP_FAULT: `kill:${fault}` }, ready: false });
    await bee.ended();
    // The next to last room is where this start went on.
    const touched = rooms.slice(Math.max(0, index - 1), index + 1);
    for (const [name, entry] of touched.flatMap((room) => [...inRoom(bee, room)])) {
      // Before its mode or time changes, a file has its new content with the old attributes for a moment.
      const known = [before, after].map((tree) => tree.get(name)?.what.replace(/ \d{4}/, ''));
      expect(known, `${name} on bee, killed by ${fault}`).toContain(entry.what.replace(/ \d{4}/, ''));
    }
  }
  const last = ant.tree();
  await bee.start();
  expect(diffTrees(last, await cluster().settled(), ['ant before', 'the folders'])).toEqual([]);
  await eventually(() => expect(readdirSync(bee.state('staging'))).toEqual([]));
});

test('[LC13] entries that were applied but not recorded before a kill are deleted when other members delete them', async () => {
  const [ant, bee] = trio();
  await mkdir(ant.path('passing'));
  await cluster().settled();
  await bee.stop();
  await shell(ant.path('passing'), 'echo x > file; mkdir directory; ln -s file link; echo y > directory/in-it');
  await ant.wait({ for: 2 });
  await bee.start({ env: { LOCKSTEP_FAULT: 'kill:fsync-directory:1' }, ready: false });
  await bee.ended();
  expect(existsSync(bee.path('passing/file'))).toBe(true);
  await shell(ant.path('passing'), 'rm -r *');
  await ant.wait({ for: 2 });
  await bee.start();
  const tree = await cluster().settled();
  expect([...subtree(tree, 'passing').keys()]).toEqual([]);
});

test('[MT1] the receiver is killed repeatedly while files arrive', async () => {
  const [ant, bee] = trio();
  for (let kills = 0; kills < 3; kills++) {
    const room = `many-${kills}`;
    await mkdir(ant.path(room));
    const writing = (async () => {
      for (let index = 0; index < 400; index++) {
        await writeFile(ant.path(room, `f${index}`), randomBytes(index % 9 === 0 ? 100_000 : 500));
      }
    })();
    await vi.waitFor(() => expect(existsSync(bee.path(room, `f${kills * 10}`))).toBe(true), {
      timeout: 60_000,
      interval: 2,
    });
    await bee.kill();
    await bee.start();
    await writing;
  }
  const tree = await cluster().settled();
  expect(subtree(tree, 'many-2').size).toBe(400);
});

test('[JN2] the writer is killed while its user goes on, and changes made meanwhile are found', async () => {
  const [ant] = trio();
  for (let round = 0; round < 3; round++) {
    const writing = shell(
      ant.folder,
      `mkdir -p rounds/r${round}; cd rounds/r${round}
       for n in $(seq 100); do echo $n > f$n; mv f$n g$n; mkdir d$n; echo in > d$n/in; done; rm -r d1*; mv d2 moved`,
    );
    await vi.waitFor(() => expect(existsSync(ant.path(`rounds/r${round}/g${20 * round + 5}`))).toBe(true), {
      timeout: 60_000,
      interval: 2,
    });
    await ant.kill();
    await writing;
    await ant.start();
  }
  const tree = await cluster().settled();
  expect(subtree(tree, 'rounds/r2').size).toBe(subtree(tree, 'rounds/r0').size);
});

test('all members are killed at once while each has work to do', async () => {
  const work = trio().map(async (member) => {
    await mkdir(member.path('all', member.name), { recursive: true });
    for (let index = 0; index < 300; index++) {
      await writeFile(member.path('all', member.name, `f${index}`), `${member.name} ${index}`);
    }
  });
  await vi.waitFor(() => expect(existsSync(cluster().member('cat').path('all/ant/f20'))).toBe(true), 60_000);
  await Promise.all(trio().map((member) => member.kill()));
  await Promise.all(work);
  await Promise.all(trio().map((member) => member.start()));
  await cluster().connected();
  const tree = await cluster().settled();
  expect(subtree(tree, 'all').size).toBe(3 + 900);
  expect(readFileSync(cluster().member('bee').path('all/cat/f299'), 'utf8')).toBe('cat 299');
});

test('[RP1] at the end the journals are consistent and agree with the folders, and there is no conflict copy', async () => {
  await cluster().verified();
  const names = [...cluster().member('ant').tree().keys()];
  expect(names.filter((name) => name.includes('.conflict-'))).toEqual([]);
});
