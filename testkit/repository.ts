import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = join('agent', 'bin', 'lockstep.js');

/** Finds the clone by its content: the compiled version of this file is at another depth. */
function find(directory: string): string {
  if (existsSync(join(directory, program))) return directory;
  const above = dirname(directory);
  if (above === directory) throw new Error(`${program} is in no directory above ${fileURLToPath(import.meta.url)}`);
  return find(above);
}

/** The root of the clone. */
export const repositoryRoot = find(dirname(fileURLToPath(import.meta.url)));

/** The program that users run. */
export const lockstepProgram = join(repositoryRoot, program);
