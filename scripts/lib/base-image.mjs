import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { aptInstall, findProgram, run, SetupError } from './process.mjs';

/** The certificates that this machine trusts, which may be more than Debian's authorities. */
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Debian's own package sources; other sources need keys that the image does not have. */
const sources = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources', '/etc/apt/apt.conf.d'];

function debianSuite() {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
}

function copyInto(directory, path) {
  if (!existsSync(path)) return;
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  cpSync(path, join(directory, path), { recursive: true, dereference: true });
}

/** Copies Node and npm to their places in the official image. */
function copyNode(directory) {
  const prefix = dirname(dirname(process.execPath));
  const local = join(directory, 'usr', 'local');
  mkdirSync(join(local, 'bin'), { recursive: true });
  cpSync(process.execPath, join(local, 'bin', 'node'));
  for (const [from, to] of [
    [join(prefix, 'lib', 'node_modules', 'npm'), join(local, 'lib', 'node_modules', 'npm')],
    [join(prefix, 'include', 'node'), join(local, 'include', 'node')],
  ]) {
    if (existsSync(from)) cpSync(from, to, { recursive: true });
  }
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
}

/** Packs the directory and imports it into the engine as an image of this name. */
async function importImage(directory, name) {
  const settings = [
    `ENV NODE_EXTRA_CA_CERTS=${certificates} SSL_CERT_FILE=${certificates} npm_config_nodedir=/usr/local`,
    'CMD ["node"]',
  ].flatMap((setting) => ['--change', setting]);
  const pack = spawn('tar', ['-C', directory, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const take = spawn('docker', ['import', ...settings, '-', name], { stdio: [pack.stdout, 'ignore', 'inherit'] });
  // Only docker reads this pipe: if it stayed open here too, this process would wait for it.
  pack.stdout.destroy();
  const codes = await Promise.all([pack, take].map((child) => new Promise((resolve) => child.once('exit', resolve))));
  return codes.every((code) => code === 0);
}

/** Makes a stand-in for the official Node image `name` from Debian's packages and the current Node. It needs root on Debian. */
export async function standInImage(name) {
  if (findProgram('debootstrap') === undefined) await aptInstall(['debootstrap']);
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-image-'));
  try {
    const args = ['--variant=minbase', '--include=ca-certificates', debianSuite(), directory];
    const { code, output } = await run('debootstrap', args, { input: 'ignore', quiet: true });
    if (code !== 0) {
      console.error(output);
      throw new SetupError(`A stand-in for ${name} could not be made: see the messages of debootstrap above.`);
    }
    copyNode(directory);
    for (const path of [...sources, certificates]) copyInto(directory, path);
    await run('chroot', [directory, '/usr/sbin/useradd', '--uid', '1000', '--create-home', 'node'], {
      input: 'ignore',
    });
    for (const path of ['var/cache/apt/archives', 'var/lib/apt/lists']) {
      rmSync(join(directory, path), { recursive: true, force: true });
    }
    if (await importImage(directory, name)) return;
    throw new SetupError(
      `The stand-in for ${name} could not be imported into the Docker engine: see its message above.`,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
