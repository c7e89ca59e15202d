import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { lockstepProgram, repositoryRoot } from './repository.ts';

/** The reason why nothing can be mounted here; undefined if it can. */
export const mountLacks: string | undefined = lacking();

function lacking(): string | undefined {
  try {
    createRequire(join(repositoryRoot, 'agent', 'package.json'))('@cocalc/fuse-native');
    if (existsSync('/dev/fuse')) return undefined;
  } catch {
    // The package is optional.
  }
  return 'A mount needs the device /dev/fuse, fuse3 and the package @cocalc/fuse-native: see docs/MOUNT.md.';
}

/** Runs `lockstep mount`. Resolves when the folder is mounted at `point`. */
export async function mountAt(point: string, { folder }: { readonly folder: string }): Promise<ChildProcess> {
  const mounting = spawn(process.execPath, [lockstepProgram, 'mount', folder, point], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    for (const output of [mounting.stdout, mounting.stderr]) {
      output.on('data', (text) => {
        printed += text;
        if (printed.includes('is mounted at')) resolve();
      });
    }
    mounting.once('close', () => reject(new Error(`lockstep mount ended: ${printed}`)));
  });
  return mounting;
}

/** Ends a mount as a person does. Returns its exit code. */
export async function unmount(mounting: ChildProcess): Promise<number | null> {
  if (mounting.exitCode !== null || mounting.signalCode !== null) return mounting.exitCode;
  mounting.kill('SIGTERM');
  const [code] = await once(mounting, 'close');
  return code;
}
