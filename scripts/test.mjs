// `npm test`: runs the checks, the quickest first, and stops at the first that fails. Checks that wait for agents run side by side with
// checks that compute. --complete adds those with special needs. The last lines name the checks that cannot run on this machine.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureBrowser } from './lib/browser.mjs';
import { ensureProgram, hasProgram } from './lib/dependencies.mjs';
import { buildImage, ensureDocker } from './lib/docker.mjs';
import { findProgram, readJson, root, run, runTool, SetupError, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const reports = join(root, 'node_modules', '.cache', 'lockstep-tests');

/** A check without tests to count: its failure counts as one. */
function check(tool, args) {
  return async (options) => {
    const { code } = await runTool(tool, args, options);
    return { passed: 0, failed: code === 0 ? 0 : 1 };
  };
}

/** The counts of a runner. If it fails without a failed test (a crash, a broken file), that counts as one failure. */
function counts(code, passed = 0, failed = 0) {
  return { passed, failed: code === 0 ? failed : Math.max(1, failed) };
}

function vitest(project, { leaveOut = () => [] } = {}) {
  return async (options) => {
    const excluded = await leaveOut();
    const file = join(reports, `${project}.json`);
    const args = [
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...excluded.flatMap((pattern) => ['--exclude', pattern]),
    ];
    const { code } = await runTool('vitest', args, options);
    const report = readJson(file);
    return counts(code, report?.numPassedTests, report?.numFailedTests);
  };
}

/** Tests of the installed package with needs that not every machine meets. */
const particular = [
  { tests: 'systemd-verify', program: 'systemd-analyze', debianPackage: 'systemd' },
  { tests: 'systemd-run', program: 'systemd-analyze', debianPackage: 'systemd', asRoot: true },
  { tests: 'completion-zsh', program: 'zsh' },
  { tests: 'completion-fish', program: 'fish' },
];

/** The patterns of those of them that cannot run here. Prints a sentence for each that says why. */
async function leftOut() {
  const patterns = [];
  for (const { tests, program, debianPackage = program, asRoot = false } of particular) {
    const isThere = await hasProgram(program, debianPackage);
    if (isThere && (!asRoot || process.getuid?.() === 0)) continue;
    const how = isThere ? 'run npm test as root' : `install it (on Debian: apt-get install -y ${debianPackage})`;
    console.log(`Left out: ${tests}.test.ts needs ${program}${asRoot ? ' and root' : ''}. To run it, ${how}.`);
    patterns.push(`**/${tests}.test.ts`);
  }
  return patterns;
}

/** As `leftOut`, for the tests with a mount. */
function leftOutMounts() {
  const needs = 'the device /dev/fuse, fuse3 and the package @cocalc/fuse-native';
  try {
    createRequire(join(root, 'agent', 'package.json'))('@cocalc/fuse-native');
    if (existsSync('/dev/fuse') && findProgram('fusermount3') !== undefined) return [];
  } catch {
    // The package is optional.
  }
  console.log(
    `Left out: the tests with a mount need ${needs}. To run it, install them (on Debian: apt-get install -y libfuse-dev fuse3, then npm ci).`,
  );
  return ['mount', 'mount-on-demand', 'mount-calls', 'mount-room'].map((tests) => `**/${tests}.test.ts`);
}

async function sim(options) {
  const worlds = await seeds(['--seeds', '200'], options);
  if (worlds.failed > 0) return worlds;
  const { passed, failed } = await seeds(['--encounters', '--seeds', '100'], options);
  return { passed: worlds.passed + passed, failed };
}

async function seeds(which, options) {
  const args = [join('agent', 'dist', 'sim', 'main.js'), ...which];
  const { code, output } = await run(process.execPath, args, { ...options, capture: true });
  const [, passed, failed] = /^sim: (\d+) passed, (\d+) failed/m.exec(output) ?? [];
  return counts(passed === undefined ? 1 : code, Number(passed ?? 0), Number(failed ?? 0));
}

async function e2e(options) {
  const file = join(reports, 'e2e.json');
  const env = { PLAYWRIGHT_JSON_OUTPUT_NAME: file, LOCKSTEP_CHROMIUM: await ensureBrowser() };
  const args = ['test', '--config', 'e2e/playwright.config.ts', '--reporter=list,json'];
  const { code } = await runTool('playwright', args, { ...options, env });
  const stats = readJson(file)?.stats;
  return counts(code, (stats?.expected ?? 0) + (stats?.flaky ?? 0), stats?.unexpected);
}

/** Tests the alert rules and the dashboard with a real Prometheus. */
async function monitoring(options) {
  await ensureProgram('promtool', 'prometheus');
  return vitest('monitoring')(options);
}

/** Runs drills in their short form, on containers or, with `--local`, on processes. */
async function drills(args) {
  const all = [join('scripts', 'drill.mjs'), '--short', ...args];
  const { code, output } = await run(process.execPath, all, { capture: true });
  const [, survived, failed] = /^Drills: (\d+) survived, (\d+) failed/m.exec(output) ?? [];
  return counts(survived === undefined ? 1 : code, Number(survived ?? 0), Number(failed ?? 0));
}

/** The drills that run on containers: killing, freezing and cutting off is different there than with processes. */
const drillsOnContainers = ['kill', 'partition-3', 'pause', 'newcomer'];

/** The drills that run on processes: the integration tests do not play these scenes, and containers may not be available. */
const drillsOnProcesses = ['kill', 'pause'];

/** Tests the lab in containers, then runs the drills that differ there. If it starts an engine, it stops the engine afterwards. */
async function compose() {
  const docker = await ensureDocker();
  try {
    if (!(await buildImage(docker.compose))) return counts(1);
    const tests = await vitest('compose')();
    if (tests.failed > 0) return tests;
    const { passed, failed } = await drills(drillsOnContainers);
    return { passed: tests.passed + passed, failed };
  } finally {
    await docker.stop();
  }
}

/**
 * The stages in rows of lanes. The lanes of a row run side by side, the stages of a lane one after the other. `extra`: runs only on
 * request. The needs of a stage that is `extra` or `optional` may not be met here; it is then left out.
 */
const rows = [
  [
    [{ name: 'lint', run: check('biome', ['check', '.']) }],
    [{ name: 'types', run: check('tsc', ['-b']) }],
    [{ name: 'knip', run: check('knip', []) }],
  ],
  // The integration tests wait for agents for more than half of their time, and the others need the processor meanwhile.
  [
    [
      { name: 'unit', run: vitest('unit') },
      { name: 'sim', run: sim },
      { name: 'e2e', run: e2e, browser: true },
    ],
    [
      {
        name: 'integration',
        run: vitest('integration', { leaveOut: leftOutMounts }),
        programs: ['git', 'tar', 'sed', 'rsync'],
      },
      { name: 'package', run: vitest('package', { leaveOut: leftOut }), programs: ['tar'] },
      { name: 'monitoring', run: monitoring, optional: true },
    ],
  ],
  // Alone: next to the others they save no time on two cores, and on a slow machine the containers' health checks then fail.
  [[{ name: 'compose', run: compose, extra: true }]],
  [[{ name: 'drill', run: () => drills(['--local', ...drillsOnProcesses]), extra: true }]],
];
const stages = rows.flat(2);

/** The stages that `--only a,b` names, or with `--complete` all of them; without either, all that are not `extra`. */
function chosen(args) {
  if (args.length === 1 && args[0] === '--complete') return stages;
  const names = [];
  for (let index = 0; index < args.length; index++) {
    const [option, value] = args[index].split('=', 2);
    if (option !== '--only')
      throw new UsageError(`npm test does not know ${args[index]}. It takes --only STAGE[,STAGE…] or --complete.`);
    names.push(...(value ?? args[++index] ?? '').split(','));
  }
  const unknown = names.find((name) => !stages.some((stage) => stage.name === name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no stage "${unknown}". The stages are ${stages.map(({ name }) => name).join(', ')}.`,
    );
  }
  return stages.filter(({ name, extra }) => (names.length === 0 ? extra !== true : names.includes(name)));
}

/** Runs an extra or optional stage. If its needs cannot be met here, it is reported as left out, not as failed. */
async function runExtra({ run }, options) {
  try {
    return await run(options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { ...counts(0), leftOut: error.message };
  }
}

/** Runs rows of lanes, and counts. The first stage that fails ends those next to it, and no other begins. */
class TestRun {
  passed = 0;
  failed = 0;
  /** A sentence for each stage that could not run here. */
  notRun = [];
  #end = new AbortController();

  /** Runs the lanes of a row side by side. The names of the stages distinguish their lines if there are several. */
  async row(lanes) {
    const width = Math.max(...lanes.flat().map(({ name }) => name.length));
    const prefixOf = ({ name }) => (lanes.length > 1 ? { prefix: `${name.padEnd(width)} │ ` } : {});
    await Promise.all(
      lanes.map(async (lane) => {
        for (const stage of lane) if (this.failed === 0) await this.#stage(stage, prefixOf(stage));
      }),
    );
  }

  async #stage(stage, output) {
    console.log(`\n── ${stage.name} ──`);
    const begin = performance.now();
    const options = { ...output, signal: this.#end.signal };
    const result = await (stage.extra || stage.optional ? runExtra(stage, options) : stage.run(options));
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    if (this.#end.signal.aborted) {
      console.log(`── ${stage.name}: ended after ${seconds} s, because another one failed`);
      return;
    }
    this.passed += result.passed;
    this.failed += result.failed;
    if (result.leftOut !== undefined) this.notRun.push(`Left out: ${stage.name}. ${result.leftOut}`);
    const verdict = result.leftOut !== undefined ? 'left out' : result.failed === 0 ? 'ok' : 'FAILED';
    console.log(`── ${stage.name}: ${verdict}, ${seconds} s`);
    if (result.failed > 0) this.#end.abort();
  }
}

await main(async (args) => {
  const selected = chosen(args);
  await setup();
  for (const name of new Set(selected.flatMap(({ programs = [] }) => programs))) await ensureProgram(name);
  if (selected.some(({ browser }) => browser)) await ensureBrowser();
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });

  const run = new TestRun();
  for (const row of rows) {
    const lanes = row
      .map((lane) => lane.filter((stage) => selected.includes(stage)))
      .filter(({ length }) => length > 0);
    if (lanes.length > 0 && run.failed === 0) await run.row(lanes);
  }
  // Printed last, where it is read: an incomplete run must not look like a complete one.
  for (const sentence of run.notRun) console.log(`\n${sentence}`);
  console.log(`\nTests: ${run.passed} passed, ${run.failed} failed`);
  return run.failed === 0 ? 0 : 1;
});
