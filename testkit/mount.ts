import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { run } from './programs.ts';
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

/** The user of a mount: by default that of this process. */
export interface MountUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Runs `lockstep mount`. Resolves when the folder is mounted at `point`. */
export async function mountAt(
  point: string,
  { folder }: { readonly folder: string },
  user: MountUser = {},
): Promise<ChildProcess> {
  const mounting = spawn(process.execPath, [lockstepProgram, 'mount', folder, point], {
    ...user,
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

/** A member's folder, mounted by a process of its own until `close`. */
export class Mount {
  /** The directory at which the folder is mounted. */
  readonly point: string;
  readonly #program: ChildProcess;

  private constructor(point: string, program: ChildProcess) {
    this.point = point;
    this.#program = program;
  }

  /** Mounts the folder of a member at `point`, which is made. Resolves when it is mounted. */
  static async open(member: { readonly folder: string }, point: string, user: MountUser = {}): Promise<Mount> {
    await mkdir(point);
    if (user.uid !== undefined && user.gid !== undefined) await chown(point, user.uid, user.gid);
    return new Mount(point, await mountAt(point, member, user));
  }

  /** Absolute path of an entry in the mount. */
  path(...names: readonly string[]): string {
    return join(this.point, ...names);
  }

  /** Ends it as a person does, and removes a mount that is left. */
  async close(): Promise<void> {
    await unmount(this.#program);
    await run('fusermount3', ['-uz', this.point]).catch(() => undefined);
  }
}
