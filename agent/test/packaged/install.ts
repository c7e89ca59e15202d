import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const execute = promisify(execFile);
const clone = fileURLToPath(new URL('../../../', import.meta.url));

/** The paths of the package that was installed for the tests of this project. */
export interface Installed {
  /** The tarball that `npm run package` made. */
  readonly tarball: string;
  /** The prefix of `npm install -g --prefix`. */
  readonly prefix: string;
  /** A directory for the members' folders. */
  readonly space: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    installed: Installed;
  }
}

/**
 * Packs this clone's binary of better-sqlite3 for Node 20 as its authors pack theirs. Its install script runs in full and takes the binary
 * from here, as it would take the authors' from the network. Without a network it would compile for two minutes.
 */
async function packBinary(into: string): Promise<void> {
  const module = join(clone, 'node_modules', 'better-sqlite3-node20');
  // The package of a later Node comes with its binaries.
  if (!existsSync(module)) return;
  const { version } = JSON.parse(await readFile(join(module, 'package.json'), 'utf8')) as { version: string };
  const release = join('build', 'Release');
  await mkdir(join(into, release), { recursive: true });
  await cp(join(module, release, 'better_sqlite3.node'), join(into, release, 'better_sqlite3.node'));
  const { modules } = process.versions;
  const name = `better-sqlite3-v${version}-node-v${modules}-${process.platform}-${process.arch}.tar.gz`;
  await execute('tar', ['-czf', join(into, name), '-C', into, 'build']);
}

/** Makes the package and installs it into a clean prefix, once for all tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await execute(process.execPath, [join(clone, 'scripts', 'package.mjs')], { cwd: clone });
  const [name = ''] = await readdir(join(clone, 'dist-package'));
  const tarball = join(clone, 'dist-package', name);
  const root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-package-')));
  const prefix = join(root, 'prefix');
  const binaries = join(root, 'binaries');
  const space = join(root, 'space');
  await mkdir(space);
  await packBinary(binaries);
  const args = [
    'install',
    '--global',
    '--prefix',
    prefix,
    '--prefer-offline',
    '--allow-scripts=better-sqlite3',
    tarball,
  ];
  const env = { ...process.env, npm_config_better_sqlite3_local_prebuilds: binaries };
  await execute('npm', [...args, '--no-audit', '--no-fund'], { cwd: root, env });
  project.provide('installed', { tarball, prefix, space });
  return () => rm(root, { recursive: true, force: true });
}
