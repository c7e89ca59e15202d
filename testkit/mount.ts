import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './programs.ts';
import { lockstepProgram } from './repository.ts';

/** A member's folder, mounted by a process of `lockstep mount`. */
export class Mount {
  /** The directory at which the folder is mounted. */
  readonly point: string;
  readonly #program: ChildProcess;

  private constructor(point: string, program: ChildProcess) {
    this.point = point;
    this.#program = program;
  }

  /** Mounts the folder of a member at `point`, which is made. Resolves when it is mounted. */
  static async open(member: { readonly folder: string }, point: string): Promise<Mount> {
    await mkdir(point);
    const program = spawn(process.execPath, [lockstepProgram, 'mount', member.folder, point], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve, reject) => {
      let printed = '';
      program.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        if (printed.includes('is mounted at')) resolve();
      });
      program.once('close', () => reject(new Error(`lockstep mount ended: ${printed}`)));
    });
    return new Mount(point, program);
  }

  /** Absolute path of an entry in the mount. */
  path(...names: readonly string[]): string {
    return join(this.point, ...names);
  }

  /** Ends it as a person does, and removes a mount that is left. */
  async close(): Promise<void> {
    const program = this.#program;
    if (program.exitCode === null && program.signalCode === null) {
      const ended = once(program, 'close');
      program.kill('SIGTERM');
      await ended;
    }
    await run('fusermount3', ['-uz', this.point]).catch(() => undefined);
  }
}
