import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the clone. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** A problem that the user can solve: the message says how. */
export class SetupError extends Error {
  exitCode = 1;
}

/** An argument that the script does not know. */
export class UsageError extends SetupError {
  exitCode = 2;
}

/** The path of `name` in PATH, or undefined. */
export function findProgram(name) {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this directory.
    }
  }
  return undefined;
}

/** Writes the text of one stream to the terminal: as it is, or as whole lines with `prefix` before each. */
function streamWriter(prefix, terminal) {
  if (prefix === undefined) return { write: (text) => terminal.write(text), end: () => {} };
  let begun = '';
  const write = (text) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) terminal.write(`${prefix}${line}\n`);
  };
  return { write, end: () => begun !== '' && write('\n') };
}

/**
 * Runs a program in the clone and resolves with its exit code (1 if it was killed). Its output goes to the terminal; with `prefix` as
 * whole lines, each with the prefix before it. With `capture` standard output is also collected as `output`; with `quiet` all output is
 * only collected. `signal` ends it.
 */
export function run(
  program,
  args,
  {
    cwd = root,
    env = {},
    capture = false,
    quiet = false,
    prefix = undefined,
    signal = undefined,
    timeoutMs = undefined,
    input = 'inherit',
  } = {},
) {
  return new Promise((resolve, reject) => {
    const isPiped = quiet || prefix !== undefined;
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...(prefix !== undefined && process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}), ...env },
      stdio: [input, capture || isPiped ? 'pipe' : 'inherit', isPiped ? 'pipe' : 'inherit'],
      timeout: timeoutMs,
      signal,
    });
    let output = '';
    const collect = (stream, terminal) => {
      const writer = streamWriter(prefix, terminal);
      stream?.setEncoding('utf8').on('data', (chunk) => {
        if (!quiet) writer.write(chunk);
        output += chunk;
      });
      stream?.once('end', writer.end);
    };
    collect(child.stdout, process.stdout);
    collect(child.stderr, process.stderr);
    child.once('error', (error) => {
      if (error.name !== 'AbortError') reject(error);
    });
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Runs a tool that npm installed. */
export function runTool(name, args, options) {
  return run(join(root, 'node_modules', '.bin', name), args, options);
}

/** True if this is Debian or a derivative, and packages may be installed. */
export function canUseApt() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined;
}

/** The time, in seconds, for which apt-get waits for a lock of another process. */
const lockTimeoutS = 300;
let lastInstall = Promise.resolve(true);

/** Installs Debian packages, one call after the other; returns false if that fails. Their services are not started. */
export function aptInstall(packages) {
  const install = () => aptInstallNow(packages);
  lastInstall = lastInstall.then(install, install);
  return lastInstall;
}

async function aptInstallNow(packages) {
  console.error(`Installing ${packages.join(', ')} (apt-get)…`);
  const env = { DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' };
  const options = { env, input: 'ignore' };
  await run('apt-get', ['update', '-qq'], options);
  // Another process may be installing something.
  const wait = ['-o', `DPkg::Lock::Timeout=${lockTimeoutS}`];
  const args = [...wait, 'install', '-y', '-qq', '--no-install-recommends', ...packages];
  const { code } = await run('apt-get', args, options);
  return code === 0;
}

/** The JSON in `path`, or undefined if there is none. */
export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
