import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { aptInstall, canUseApt, findProgram, readJson, root, run, SetupError } from './process.mjs';

const nodeMinimum = [20, 19];

/** Stops with a sentence when this Node is too old. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > nodeMinimum[0] || (major === nodeMinimum[0] && minor >= nodeMinimum[1])) return;
  throw new SetupError(
    `Node ${nodeMinimum.join('.')} or later is needed and this is ${process.versions.node}. Install a newer Node (https://nodejs.org) and run this again.`,
  );
}

/** True when node_modules holds what package-lock.json says, built for this Node. */
function areCurrent() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (wanted === undefined || installed === undefined) return false;
  for (const [path, { version, link, optional, peer }] of Object.entries(wanted)) {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue;
    // Packages for other platforms are rightly absent.
    if (link || ((optional || peer) && installed[path] === undefined)) continue;
    if (installed[path]?.version !== version) return false;
  }
  return nativeModulesLoad();
}

/** The only module that is compiled here: it fails to load when it was never built, or for another Node. */
function nativeModulesLoad() {
  try {
    const Database = createRequire(join(root, 'agent', 'package.json'))('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Where the native module has no ready-made binary it is compiled, and for that the headers of this Node are needed. They
 * usually lie beside it; without this hint they would be downloaded.
 */
function headersHint() {
  const prefix = dirname(dirname(process.execPath));
  const present = existsSync(join(prefix, 'include', 'node', 'node.h'));
  return present && process.env.npm_config_nodedir === undefined ? { npm_config_nodedir: prefix } : {};
}

/** Runs npm with its messages held back; they are shown only when it fails. */
async function npm(args) {
  const options = { env: headersHint(), input: 'ignore', quiet: true };
  return run('npm', [...args, '--no-audit', '--no-fund'], options).catch((cause) => {
    throw new SetupError(`npm cannot be started (${cause.message}). Install npm 10 or later, which comes with Node.`);
  });
}

/** Installs what package-lock.json says, and looks whether that is what came. */
async function install() {
  let { code, output } = await npm(['ci']);
  // A lock file that was made where the registry has no packages for other platforms does not name them. `npm ci` takes that
  // for a mistake; `npm install` follows the lock file all the same, and the look afterwards compares every version.
  if (code !== 0 && output.includes('in sync')) ({ code, output } = await npm(['install', '--no-save']));
  if (code !== 0) console.error(output);
  return code === 0 && areCurrent();
}

const compilers = { python3: 'python3', make: 'make', 'g++': 'g++' };

/** Installs the dependencies unless they are what package-lock.json says. */
export async function ensureDependencies() {
  if (areCurrent()) return;
  console.error('Installing dependencies. The first time this takes up to some minutes…');
  if (await install()) return;
  const missing = Object.keys(compilers).filter((name) => findProgram(name) === undefined);
  if (missing.length > 0 && canUseApt()) {
    if ((await aptInstall(missing.map((name) => compilers[name]))) && (await install())) return;
  }
  const hint =
    missing.length > 0
      ? `Where no ready-made binary of better-sqlite3 can be had it is compiled, and ${missing.join(', ')} is missing. On Debian: apt-get install -y python3 make g++`
      : 'See the messages of npm above; is the package registry reachable?';
  throw new SetupError(`The dependencies could not be installed. ${hint}`);
}

/** Makes sure that a program the tests drive is there, installing its Debian package where that is possible. */
export async function ensureProgram(name, debianPackage = name) {
  if (findProgram(name) !== undefined) return;
  if (canUseApt() && (await aptInstall([debianPackage])) && findProgram(name) !== undefined) return;
  throw new SetupError(`The tests need ${name}. Install it (on Debian: apt-get install -y ${debianPackage}).`);
}

/** The same for a program that some tests can be left out without: false when it cannot be had here. */
export async function hasProgram(name, debianPackage = name) {
  if (findProgram(name) !== undefined) return true;
  return canUseApt() && (await aptInstall([debianPackage])) && findProgram(name) !== undefined;
}
