import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

export interface ChildOutcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The script's answer, if it gave one. */
  readonly answer: unknown;
  readonly errors: string;
}

export interface ChildOptions {
  /** The directory of the folder: ROOT for the script, which opens the folder by `openHere()`. */
  readonly root: string;
  /** Its last statement calls `answer(value)`. It can use `folder`, `hashBytes`, `root`, `fs` and `openHere`. */
  readonly script: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the rest of its command line, in another namespace or as another user. */
  readonly wrapper?: readonly string[];
}

/** Runs a script on a folder in its own process: to be killed, as another user, or on another file system. */
export function runInChild({ root, script, env = {}, wrapper = [] }: ChildOptions): Promise<ChildOutcome> {
  const code = `
    import * as fs from 'node:fs';
    const { openFolder } = await import(${JSON.stringify(`${dist}fs/open-folder.js`)});
    const { hashBytes } = await import(${JSON.stringify(`${dist}fs/read/content-id.js`)});
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const root = ${JSON.stringify(root)};
    const openHere = () => openFolder({ root, stateDirectory: root + '/.lockstep', memberName: 'ant', log });
    const answer = (value) => process.stdout.write(JSON.stringify(value));
    ${script}`;
  const [command = process.execPath, ...args] = [...wrapper, process.execPath, '--input-type=module', '-e', code];
  return new Promise((resolve) => {
    const child = execFile(command, args, { env: { PATH: process.env.PATH, ...env } }, (_error, stdout, stderr) => {
      const answer: unknown = stdout === '' ? undefined : JSON.parse(stdout);
      resolve({ code: child.exitCode, signal: child.signalCode, answer, errors: stderr });
    });
  });
}

/** A write of `text`, as the source of an expression in a script. */
export function writeInScript(path: string, text: string, more = ''): string {
  return `(() => {
    const bytes = new TextEncoder().encode(${JSON.stringify(text)});
    return { action: { do: 'write', path: ${JSON.stringify(path)}, expected: 'absent', ...hashBytes(bytes),
      size: bytes.length, mode: 0o644, mtimeUs: 1600000000000000, source: { from: 'bytes', bytes }, ${more} } };
  })()`;
}
