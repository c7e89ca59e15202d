import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { aptInstall, canUseApt, findProgram, readJson, root, run, SetupError } from './process.mjs';

const nodeMinimum = [20, 19];

/** Throws a SetupError if this Node is too old. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > nodeMinimum[0] || (major === nodeMinimum[0] && minor >= nodeMinimum[1])) return;
  throw new SetupError(
    `Node ${nodeMinimum.join('.')} or later is needed and this is ${process.versions.node}. Install a newer Node (https://nodejs.org) and run this again.`,
  );
}

/** True if node_modules contains what package-lock.json says, built for this Node. */
function areCurrent() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (wanted === undefined || installed === undefined) return false;
  for (const [path, { version, link, optional, peer }] of Object.entries(wanted)) {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue;
    // Packages for other platforms are not installed.
    if (link || ((optional || peer) && installed[path] === undefined)) continue;
    if (installed[path]?.version !== version) return false;
  }
  return nativeModulesLoad();
}

/** The package of SQLite for this Node, as agent/src/os/sqlite.ts chooses it; that file may not be built yet. */
const sqlitePackage = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20';

/** True if SQLite loads: it does not if it was never built, or if the packages were installed with another Node. */
function nativeModulesLoad() {
  try {
    const Database = createRequire(join(root, 'agent', 'package.json'))(sqlitePackage);
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/**
 * The environment that tells npm where the headers of this Node are. They are needed if the native module has no ready-made binary and is
 * compiled. They are usually installed with Node; without this hint they would be downloaded.
 */
function headersHint() {
  const prefix = dirname(dirname(process.execPath));
  const present = existsSync(join(prefix, 'include', 'node', 'node.h'));
  return present && process.env.npm_config_nodedir === undefined ? { npm_config_nodedir: prefix } : {};
}

/** Runs npm and returns its exit code and its messages, which are not printed. */
async function npm(args) {
  const options = { env: headersHint(), input: 'ignore', quiet: true };
  return run('npm', [...args, '--no-audit', '--no-fund'], options).catch((cause) => {
    throw new SetupError(`npm cannot be started (${cause.message}). Install npm 10 or later, which comes with Node.`);
  });
}

/** Installs what package-lock.json says, and checks the result. */
async function install() {
  let { code, output } = await npm(['ci']);
  // A lock file that was made with a registry without the packages for other platforms does not name them. `npm ci` rejects such a file;
  // `npm install` follows it, and `areCurrent` compares every version afterwards.
  if (code !== 0 && output.includes('in sync')) ({ code, output } = await npm(['install', '--no-save']));
  if (code !== 0) console.error(output);
  return code === 0 && areCurrent();
}

const compilers = { python3: 'python3', make: 'make', 'g++': 'g++' };

/** Installs the dependencies unless they are already what package-lock.json says. */
export async function ensureDependencies() {
  if (areCurrent()) return;
  console.error('Installing dependencies. The first time this may take some minutes…');
  if (await install()) return;
  const missing = Object.keys(compilers).filter((name) => findProgram(name) === undefined);
  if (missing.length > 0 && canUseApt()) {
    if ((await aptInstall(missing.map((name) => compilers[name]))) && (await install())) return;
  }
  throw new SetupError(`The dependencies could not be installed. ${hintFor(missing)}`);
}

/** The advice after a failed installation, if the compilers `missing` are not there. */
function hintFor(missing) {
  if (missing.length > 0) {
    return `Without a ready-made binary better-sqlite3 must be compiled, and ${missing.join(', ')} is missing. On Debian: apt-get install -y python3 make g++`;
  }
  // SQLite is an optional dependency, so that npm leaves out the one that does not fit this Node. It is silent, too, if its binary fails.
  if (!nativeModulesLoad() && existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return `The binary of ${sqlitePackage} could not be downloaded or compiled. To see why: npm ci --foreground-scripts`;
  }
  return 'See the messages of npm above, and check that the package registry is reachable.';
}

/** Makes sure that a program for the tests is installed; installs its Debian package if that is possible. */
export async function ensureProgram(name, debianPackage = name) {
  if (findProgram(name) !== undefined) return;
  if (canUseApt() && (await aptInstall([debianPackage])) && findProgram(name) !== undefined) return;
  throw new SetupError(`The tests need ${name}. Install it (on Debian: apt-get install -y ${debianPackage}).`);
}

/** The same for a program that only some tests need: false if it cannot be installed here. */
export async function hasProgram(name, debianPackage = name) {
  if (findProgram(name) !== undefined) return true;
  return canUseApt() && (await aptInstall([debianPackage])) && findProgram(name) !== undefined;
}
