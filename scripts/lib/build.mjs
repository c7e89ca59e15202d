import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, root, runTool, SetupError } from './process.mjs';

const stampPath = join(root, '.setup-stamp');

/** The parts of the build: their inputs, and a file that shows that they were built. */
const parts = {
  agent: {
    inputs: [
      'shared/src',
      'agent/src',
      'shared/package.json',
      'agent/package.json',
      'shared/tsconfig.json',
      'agent/tsconfig.json',
      'tsconfig.base.json',
      'agent/vite.config.ts',
      'package-lock.json',
    ],
    output: 'agent/bundle/main.js',
    async build() {
      const whole = existsSync(join(root, 'agent', 'dist')) && existsSync(join(root, 'shared', 'dist'));
      // The compiler trusts its build information, which must not count if the output was removed.
      const compiled = await runTool('tsc', ['-b', ...(whole ? [] : ['--force']), 'shared', 'agent']);
      return compiled.code === 0 && (await bundle('agent'));
    },
  },
  dashboard: {
    inputs: [
      'shared/src',
      'dashboard/src',
      'dashboard/public',
      'dashboard/index.html',
      'dashboard/package.json',
      'dashboard/tsconfig.json',
      'dashboard/vite.config.ts',
      'docs/OPERATIONS.md',
      'package-lock.json',
    ],
    output: 'dashboard/dist/index.html',
    build: () => bundle('dashboard'),
  },
};

async function bundle(workspace) {
  const { code } = await runTool('vite', ['build', '--logLevel', 'warn'], { cwd: join(root, workspace) });
  return code === 0;
}

function addTo(hash, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isDirectory()) {
    for (const name of readdirSync(join(root, path)).sort()) addTo(hash, `${path}/${name}`);
  } else {
    hash.update(`${path}\0${stats.size}\0${stats.mtimeMs}\n`);
  }
}

function fingerprint(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) addTo(hash, input);
  return hash.digest('hex');
}

/** Builds the parts whose inputs have changed since their last build. */
export async function ensureBuild() {
  const stamp = { ...readJson(stampPath) };
  for (const [name, { inputs, output, build }] of Object.entries(parts)) {
    const now = fingerprint(inputs);
    if (stamp[name] === now && existsSync(join(root, output))) continue;
    console.error(`Building ${name}…`);
    // The stamp is removed first: an interrupted build must be repeated.
    delete stamp[name];
    if (Object.keys(stamp).length === 0) rmSync(stampPath, { force: true });
    else writeFileSync(stampPath, JSON.stringify(stamp));
    if (!(await build()) || !existsSync(join(root, output))) {
      throw new SetupError(
        `${name} could not be built: see the messages above. In an unchanged clone, \`npm ci\` and then \`npm run setup\` again may help.`,
      );
    }
    stamp[name] = now;
    writeFileSync(stampPath, JSON.stringify(stamp));
  }
}
