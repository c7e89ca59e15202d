import { run } from '../programs.ts';

/** The user that the members of the lab in containers run as when nothing else is said. */
const ordinary = 1_000;

const isRoot = process.getuid?.() === 0;

/** Options of a program that needs root's rights, while this process acts as somebody else. */
export const asRoot = isRoot ? { uid: 0, gid: 0 } : {};

/** Who works on this machine. */
export interface Person {
  readonly uid: number;
  readonly gid: number;
}

/** Whoever runs this. */
export const self: Person = { uid: process.getuid?.() ?? ordinary, gid: process.getgid?.() ?? ordinary };

/** Who types the commands is no superuser: where root runs the tests, the files that they make from now on are an ordinary user's. */
export function becomeOrdinary(): Person {
  if (!isRoot) return self;
  process.setegid?.(ordinary);
  process.seteuid?.(ordinary);
  return { uid: ordinary, gid: ordinary };
}

/** Runs a line of shell script as that user; stops at the first command that fails. */
export function shellAs({ uid, gid }: Person, cwd: string, script: string): Promise<string> {
  const change = isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'] : [];
  const [program = 'sh', ...args] = [...change, 'sh', '-euc', script];
  return run(program, args, { cwd, ...asRoot });
}
