import { run } from '../programs.ts';

/** The user and group id that members in containers run as by default. */
const ordinary = 1_000;

const isRoot = process.getuid?.() === 0;

/** Options of a program that needs root's rights while this process acts as another user. */
export const asRoot = isRoot ? { uid: 0, gid: 0 } : {};

/** A user of this machine. */
export interface Person {
  readonly uid: number;
  readonly gid: number;
}

/** The user who runs this process. */
export const self: Person = { uid: process.getuid?.() ?? ordinary, gid: process.getgid?.() ?? ordinary };

/** Makes this process act as an ordinary user, like the users who type the commands. It changes something only if root runs the tests. */
export function becomeOrdinary(): Person {
  if (!isRoot) return self;
  process.setegid?.(ordinary);
  process.seteuid?.(ordinary);
  return { uid: ordinary, gid: ordinary };
}

/** Runs a line of shell script as this user; stops at the first command that fails. */
export function shellAs({ uid, gid }: Person, cwd: string, script: string): Promise<string> {
  const change = isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'] : [];
  const [program = 'sh', ...args] = [...change, 'sh', '-euc', script];
  return run(program, args, { cwd, ...asRoot });
}
