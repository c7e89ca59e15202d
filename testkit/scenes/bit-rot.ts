import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathReportSchema } from '@lockstep/shared/api';
import { untilCertain } from '../certain.ts';
import { eventually } from '../eventually.ts';
import { type Lab, type LabImage, type LabMember, patienceMs } from '../labs/lab.ts';
import { shell } from '../programs.ts';
import { diffTrees } from '../tree.ts';
import { compare, conflictCopies, noProblems } from './compare.ts';
import type { Scene, Stage } from './stage.ts';

/** Rounds of `verify --repair` in the long form. */
const rounds = 5;
const smallFiles = 20;

/** The text in those files of a directory that are going to rot. */
const markerOf = (directory: string): string => `these bytes of ${directory} are going to rot`;

interface Rotting {
  readonly stage: Stage;
  readonly lab: Lab;
  /** The members with sound disks. */
  readonly others: readonly LabMember[];
  readonly bee: LabMember;
  readonly image: LabImage;
}

/** The operations of the visible heads at these paths on a member. */
async function headsAt(member: LabMember, paths: readonly string[]): Promise<readonly string[]> {
  const heads: string[] = [];
  for (const path of paths) {
    const report = pathReportSchema.parse(await member.get(`/paths/${path}`));
    heads.push(...report.heads.map(({ origin, seq }) => `${path}: ${origin} ${seq}`));
  }
  return heads;
}

/** The attributes of a file from which the agent makes its fingerprint, and which a program sees without reading the file. */
async function fingerprintOf(path: string): Promise<string> {
  const { ino, size, mode, mtimeNs, ctimeNs, birthtimeNs } = await lstat(path, { bigint: true });
  return [ino, size, mode, mtimeNs, ctimeNs, birthtimeNs].join(' ');
}

/** Makes these files of bee rot, which are all that contain the marker of this directory. Returns their damaged contents. */
async function rot(
  { stage, bee, image }: Rotting,
  directory: string,
  paths: readonly string[],
): Promise<readonly Buffer[]> {
  const fingerprints = (): Promise<readonly string[]> =>
    Promise.all(paths.map((path) => fingerprintOf(join(bee.folder, path))));
  const before = await fingerprints();
  await image.rot(paths, markerOf(directory));
  assert.deepEqual(await fingerprints(), before, 'the rot has changed more than bytes');
  stage.did(`changed a byte of each of ${paths.length} files on the disk of bee, under unchanged fingerprints`);
  return Promise.all(paths.map((path) => readFile(join(bee.folder, path))));
}

/** Checks that the history of bee contains all of these versions. */
function putAside(bee: LabMember, versions: readonly Buffer[]): void {
  const kept = readdirSync(bee.state('history'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
  const lost = versions.filter((version) => !kept.some((bytes) => bytes.equals(version)));
  assert.equal(lost.length, 0, `${lost.length} damaged files were not kept`);
}

/** Checks that the folders of these members are unchanged, byte for byte. */
function untouched(others: readonly LabMember[], before: ReturnType<LabMember['tree']>): void {
  for (const member of others) assert.deepEqual(diffTrees(before, member.tree(), ['before', member.name]), []);
}

/** Makes files with the marker and files without on ant, and waits until all members hold them. Returns the paths of the former. */
async function make({ lab, bee }: Rotting, directory: string): Promise<readonly string[]> {
  const small = Array.from({ length: smallFiles }, (_, index) => `rots-${index}`);
  const marker = markerOf(directory);
  const ant = lab.member('ant');
  const script = `
    mkdir ${directory}; cd ${directory}
    for n in ${small.join(' ')}; do echo "$n: ${marker}" > $n; echo $n > sound-$n; done
    (head -c 2500000 /dev/urandom; printf %s '${marker}'; head -c 500000 /dev/urandom) > rots-large
    touch -d 2020-01-01 *`;
  await shell(ant.folder, script);
  assert.ok((await ant.wait({ for: 'all' })).done, 'not all members hold the files');
  await untilCertain(bee);
  return [...small, 'rots-large'].map((name) => `${directory}/${name}`);
}

async function byVerify(rotting: Rotting, round: number): Promise<void> {
  const { stage, lab, others, bee } = rotting;
  const directory = `round-${round}`;
  const paths = await make(rotting, directory);
  const before = lab.member('ant').tree();
  const heads = await headsAt(bee, paths);
  const spoilt = await rot(rotting, directory, paths);
  const found = await bee.verify();
  assert.equal(found.ok, false, 'verify on bee finds nothing');
  assert.equal(found.disk.differing, paths.length, 'files that verify calls damaged');
  const { repair } = await bee.verify({ repair: true });
  assert.deepEqual(repair, { repaired: paths.length, left: 0, paths: [] });
  stage.saw(`verify on bee finds ${paths.length} files, and verify --repair repairs all of them`);
  putAside(bee, spoilt);
  untouched([...others, bee], before);
  for (const member of [...others, bee]) assert.deepEqual(await headsAt(member, paths), heads, member.name);
  stage.saw('the damaged versions are in the history of bee, and no member received a change');
}

async function byRead(rotting: Rotting): Promise<void> {
  const { stage, lab, others, bee } = rotting;
  const paths = await make(rotting, 'read');
  const before = bee.tree();
  const heads = await headsAt(bee, paths);
  const spoilt = await rot(rotting, 'read', paths);
  for (const member of others) await member.stop();
  stage.did('stopped all but bee, and let a newcomer join that asks bee for everything');
  const newcomer = await lab.addNewcomer('dog');
  const isFound = async (): Promise<void> => {
    const damaged = (await bee.status()).problems.filter(({ code }) => code === 'file-damaged');
    assert.deepEqual(damaged.map(({ path }) => path).sort(), paths.toSorted(), 'the files that bee reports as damaged');
  };
  await eventually(isFound, { timeoutMs: patienceMs });
  stage.saw('bee finds the damage when it reads the files for the newcomer');
  await shell(bee.folder, `touch ${paths.join(' ')}`);
  await bee.rescan();
  assert.deepEqual(await headsAt(bee, paths), heads, 'a touch has published the damage');
  for (const path of paths)
    await assert.rejects(lstat(join(newcomer.folder, path)), `the newcomer received ${path}, which is damaged`);
  untouched(others, before);
  for (const member of others) await member.start();
  stage.did('touched the damaged files, which published nothing, and restarted the others');
  await compare(stage, lab);
  putAside(bee, spoilt);
  untouched(lab.members, before);
  assert.deepEqual(await headsAt(bee, paths), heads);
}

export const bitRot: Scene = {
  name: 'bit-rot',
  title: 'bytes of files change on the disk of one member, under unchanged fingerprints',
  needs: 'image',
  async run(stage) {
    const lab = await stage.open(['ant', 'cat']);
    const others = [...lab.members];
    const { member: bee, image } = await lab.addOnImage('bee');
    const rotting = { stage, lab, others, bee, image };
    for (let round = 1; round <= (stage.short ? 1 : rounds); round++) await byVerify(rotting, round);
    await byRead(rotting);
    assert.deepEqual(conflictCopies(await compare(stage, lab)), []);
    await noProblems(lab);
    stage.saw('every member has every file as it was written, without the damage');
  },
};
