import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const clone = fileURLToPath(new URL('../../../', import.meta.url));

/** The version numbers of another version of Lockstep. */
export interface VersionNumbers {
  readonly SOFTWARE_VERSION?: string;
  readonly PROTOCOL_VERSION?: number;
  readonly PROTOCOL_VERSION_MIN?: number;
}

/** Builds a Lockstep with these numbers next to this one, and returns its program. It is removed after the test. */
export async function buildVersion(numbers: VersionNumbers): Promise<string> {
  // Below node_modules, so that it finds all other packages at the same places as this one.
  const cache = join(clone, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const build = await mkdtemp(join(cache, 'lockstep-version-'));
  onTestFinished(() => rm(build, { recursive: true }));
  const shared = join('node_modules', '@lockstep', 'shared');
  for (const part of ['bin', 'dist', 'package.json']) {
    await cp(join(clone, 'agent', part), join(build, 'agent', part), { recursive: true });
  }
  for (const part of ['dist', 'package.json']) {
    await cp(join(clone, 'shared', part), join(build, shared, part), { recursive: true });
  }
  const file = join(build, shared, 'dist', 'version.js');
  let text = await readFile(file, 'utf8');
  for (const [name, value] of Object.entries(numbers)) {
    text = text.replace(new RegExp(`(export const ${name} = ).*;`), `$1${JSON.stringify(value)};`);
  }
  await writeFile(file, text);
  // The bundle has the numbers of this version: the other one runs unbundled.
  const program = join(build, 'agent', 'bin', 'lockstep.js');
  const start = await readFile(program, 'utf8');
  await writeFile(program, start.replace('../bundle/main.js', '../dist/cli/main.js'));
  return program;
}
