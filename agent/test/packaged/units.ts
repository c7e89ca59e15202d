import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { installedProgram } from './run-installed.ts';

const execute = promisify(execFile);

/** The services in the package: one for the system's manager, one for a user's. */
export const units = { system: 'lockstep@.service', user: join('user', 'lockstep@.service') } as const;

/**
 * Writes the installed unit into `directory` as `name`. The program's path is inserted, as docs/OPERATIONS.md says for a prefix that
 * systemd does not search. `without` names settings that are left out.
 */
export async function writeUnit(
  unit: keyof typeof units,
  directory: string,
  name: string,
  without: readonly string[] = [],
): Promise<string> {
  const { prefix } = inject('installed');
  const place = join(prefix, 'lib', 'node_modules', 'lockstep', 'packaging', 'systemd', units[unit]);
  const lines = (await readFile(place, 'utf8')).split('\n');
  const kept = lines.filter((line) => !without.includes(line.split('=')[0] ?? ''));
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  await writeFile(path, kept.join('\n').replace('ExecStart=lockstep', `ExecStart=${installedProgram()}`));
  return path;
}

/** The instance of a unit for a folder. */
export async function instanceOf(folder: string): Promise<string> {
  return (await execute('systemd-escape', ['--path', folder])).stdout.trim();
}
