// `npm run package`: the package that people install on their machines, as dist-package/lockstep-VERSION.tgz. It holds the built
// agent and page and nothing of the sources, in the places that they have in the clone.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lockedClosure } from './lib/locked-closure.mjs';
import { readJson, root, run, SetupError, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const target = join(root, 'dist-package');
const content = join(target, 'content');

/** Parts of the agent that run in the clone and its containers only: the simulator, and the labs. */
const cloneOnly = /^(sim\/|cli\/(lab|compose-lab|health-probe))/;

/** npm links it to where `man` looks. */
const manualPath = 'packaging/man/lockstep.1';

/** What is taken over as it is. */
const asItIs = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'docs/GUARANTEES.md',
  'docs/METRICS.md',
  'docs/OPERATIONS.md',
  'monitoring/alerts.yml',
  'monitoring/grafana',
  'monitoring/prometheus.yml',
  'monitoring/targets',
  'agent/bin',
  'dashboard/dist',
  'packaging/systemd',
];

/** The modules of a workspace's source that are part of what runs; those alone, for `dist` keeps the output of removed ones. */
function modules(workspace) {
  return readdirSync(join(root, workspace, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|contract)\.ts$/.test(path) && !cloneOnly.test(path))
    .map((path) => `${workspace}/dist/${path.replace(/\.ts$/, '.js')}`);
}

/**
 * A module as the package holds it: `@lockstep/shared`, a package of its own in the clone only, is named by its place, for npm
 * installs no package that lies inside another reliably; and the line that names the source map, which stays behind, is left out.
 */
function packaged(path, text) {
  return text
    .replaceAll(/(from|import) '@lockstep\/shared(\/api)?'/g, (_match, word, part) => {
      const place = relative(dirname(path), `shared/dist/${part === undefined ? 'index' : 'api'}.js`);
      return `${word} '${place}'`;
    })
    .replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
}

function write(path, text) {
  mkdirSync(dirname(join(content, path)), { recursive: true });
  writeFileSync(join(content, path), text);
}

/** The package.json of the package, from those of the clone and its workspaces. */
function manifest() {
  const { name, version, description, license, engines } = readJson(join(root, 'package.json'));
  const needed = ['agent', 'shared'].flatMap((workspace) =>
    Object.keys(readJson(join(root, workspace, 'package.json')).dependencies),
  );
  const foreign = needed.filter((dependency) => !dependency.startsWith('@lockstep/'));
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { lockstep: 'agent/bin/lockstep.js' },
    man: [manualPath],
    files: ['agent', 'shared', 'dashboard', 'packaging', 'monitoring', 'docs', 'CHANGELOG.md'],
    ...lockedClosure(readJson(join(root, 'package-lock.json')), foreign),
  };
}

/** The manual page, made from what the built program says of its commands. */
async function manual() {
  const load = (path) => import(pathToFileURL(join(root, 'agent', 'dist', 'cli', path)).href);
  const [{ buildProgram }, { manPage }, { processTerminal }] = await Promise.all(
    ['program.js', 'help/man-page.js', 'terminal.js'].map(load),
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
  write('package.json', `${JSON.stringify(manifest(), null, 2)}\n`);
  for (const path of asItIs) cpSync(join(root, path), join(content, path), { recursive: true });
  for (const path of [...modules('agent'), ...modules('shared')]) {
    write(path, packaged(path, readFileSync(join(root, path), 'utf8')));
  }
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
