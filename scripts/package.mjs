// `npm run package`: makes the package that users install, dist-package/lockstep-VERSION.tgz. It contains the built agent and page, but no
// sources, at the same paths as in the clone.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lockedClosure } from './lib/locked-closure.mjs';
import { readJson, root, run, SetupError, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const target = join(root, 'dist-package');
const content = join(target, 'content');

/** The program that npm links. Its bundle contains all modules that it needs, and no others: the labs and the simulator are other programs. */
const program = 'agent/bin/lockstep.js';

/** The manual page, which npm links into a directory that `man` searches. */
const manualPath = 'packaging/man/lockstep.1';

/** The paths that are copied unchanged. */
const asItIs = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'docs/GUARANTEES.md',
  'docs/METRICS.md',
  'docs/MOUNT.md',
  'docs/OPERATIONS.md',
  'monitoring/alerts.yml',
  'monitoring/grafana',
  'monitoring/prometheus.yml',
  'monitoring/targets',
  program,
  'agent/bundle',
  'dashboard/dist',
  'packaging/systemd',
];

function write(path, text) {
  mkdirSync(dirname(join(content, path)), { recursive: true });
  writeFileSync(join(content, path), text);
}

/** The package.json of the package: that of the clone, with the packages that are not part of the bundle. */
async function manifest() {
  const { name, version, description, license, engines } = readJson(join(root, 'package.json'));
  // A dynamic import: it needs a package that `setup` installs in a new clone.
  const { loadConfigFromFile } = await import('vite');
  const { config } = await loadConfigFromFile(
    { command: 'build', mode: 'production' },
    join(root, 'agent/vite.config.ts'),
  );
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { lockstep: program },
    man: [manualPath],
    files: ['agent', 'dashboard', 'packaging', 'monitoring', 'docs', 'CHANGELOG.md'],
    ...lockedClosure(readJson(join(root, 'package-lock.json')), config.ssr.external),
  };
}

/** The manual page, made from the command descriptions of the built program. */
async function manual() {
  const load = (path) => import(pathToFileURL(join(root, 'agent', 'dist', 'cli', path)).href);
  const [{ buildProgram }, { manPage }, { processTerminal }] = await Promise.all(
    ['program.js', 'help/man-page.js', 'output/terminal.js'].map(load),
  );
  const { version } = readJson(join(root, 'package.json'));
  return manPage(
    buildProgram(processTerminal(), () => {}),
    version,
  );
}

async function gather() {
  rmSync(target, { recursive: true, force: true });
  write(manualPath, await manual());
  write('package.json', `${JSON.stringify(await manifest(), null, 2)}\n`);
  for (const path of asItIs) cpSync(join(root, path), join(content, path), { recursive: true });
}

await main(async (args) => {
  if (args.length > 0) throw new UsageError(`npm run package does not know ${args[0]}. It takes no argument.`);
  await setup();
  await gather();
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', target], { cwd: content, quiet: true });
  if (packed.code !== 0) throw new SetupError(`npm could not pack ${content}:\n${packed.output}`);
  rmSync(content, { recursive: true });
  const tarball = join('dist-package', readdirSync(target)[0]);
  console.log(`Made ${tarball}. To install it:\n  npm install -g --allow-scripts=better-sqlite3 ./${tarball}`);
});
