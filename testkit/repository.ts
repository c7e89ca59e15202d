import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = join('agent', 'bin', 'lockstep.js');

/** Found by what it holds: this file stands at another depth when it was compiled. */
function find(directory: string): string {
  if (existsSync(join(directory, program))) return directory;
  const above = dirname(directory);
  if (above === directory) throw new Error(`${program} is in no directory above ${fileURLToPath(import.meta.url)}`);
  return find(above);
}

/** The root of the clone. */
export const repositoryRoot = find(dirname(fileURLToPath(import.meta.url)));

/** The program that people run. */
export const lockstepProgram = join(repositoryRoot, program);
