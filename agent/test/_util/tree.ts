import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';

const stateDirectory = '.lockstep';

/** Everything that must be the same on every member: by name (its bytes, one character each), what stands there. */
export type Tree = ReadonlyMap<string, string>;

/** Reads a tree: names as bytes, type, mode, content, time of files to the microsecond, text of links. Without `.lockstep`. */
export async function readTree(root: string): Promise<Tree> {
  const entries = new Map<string, string>();
  await readDirectory(Buffer.from(root), '', entries);
  return entries;
}

async function readDirectory(path: Buffer, name: string, entries: Map<string, string>): Promise<void> {
  const names = await readdir(path, { encoding: 'buffer' });
  names.sort(Buffer.compare);
  for (const child of names) {
    if (name === '' && child.toString() === stateDirectory) continue;
    const childPath = Buffer.concat([path, Buffer.from('/'), child]);
    const childName = name + (name === '' ? '' : '/') + child.toString('latin1');
    const stats = await lstat(childPath, { bigint: true });
    entries.set(childName, await describe(childPath, stats));
    if (stats.isDirectory()) await readDirectory(childPath, childName, entries);
  }
}

async function describe(path: Buffer, stats: BigIntStats): Promise<string> {
  const mode = (stats.mode & 0o7777n).toString(8).padStart(4, '0');
  if (stats.isDirectory()) return `directory ${mode}`;
  if (stats.isSymbolicLink()) return `link to ${JSON.stringify((await readlink(path, 'buffer')).toString('latin1'))}`;
  if (!stats.isFile()) return 'special';
  const hash = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);
  return `file ${mode} of ${stats.size} B, content ${hash}, modified ${stats.mtimeNs / 1000n} µs`;
}

/** A name of a tree for people. */
function shown(name: string): string {
  return JSON.stringify(Buffer.from(name, 'latin1').toString('utf8'));
}

/** The differences of two trees as lines; none when they are equal. */
export function diffTrees(a: Tree, b: Tree, names: readonly [a: string, b: string]): readonly string[] {
  const lines: string[] = [];
  for (const [name, what] of a) {
    const other = b.get(name);
    if (other === undefined) lines.push(`${shown(name)} is only in ${names[0]}: ${what}`);
    else if (other !== what) lines.push(`${shown(name)}: ${names[0]} has ${what}; ${names[1]} has ${other}`);
  }
  for (const [name, what] of b) {
    if (!a.has(name)) lines.push(`${shown(name)} is only in ${names[1]}: ${what}`);
  }
  return lines;
}

/** The part of a tree below `directory`, with names from there. */
export function subtree(tree: Tree, directory: string): Tree {
  const prefix = `${Buffer.from(directory).toString('latin1')}/`;
  const below = [...tree].filter(([name]) => name.startsWith(prefix));
  return new Map(below.map(([name, what]) => [name.slice(prefix.length), what]));
}

/** The names of a tree as text, in order. */
export function namesOf(tree: Tree): readonly string[] {
  return [...tree.keys()].map((name) => Buffer.from(name, 'latin1').toString('utf8')).sort();
}
