// `npm test`: runs the checks, the quickest first, and stops at the first that fails. --complete adds those with special needs. The last
// lines name the checks that cannot run on this machine.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBrowser } from './lib/browser.mjs';
import { ensureProgram, hasProgram } from './lib/dependencies.mjs';
import { buildImage, ensureDocker } from './lib/docker.mjs';
import { readJson, root, run, runTool, SetupError, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const reports = join(root, 'node_modules', '.cache', 'lockstep-tests');

/** A check without tests to count: its failure counts as one. */
function check(tool, args) {
  return async () => {
    const { code } = await runTool(tool, args);
    return { passed: 0, failed: code === 0 ? 0 : 1 };
  };
}

/** The counts of a runner. If it fails without a failed test (a crash, a broken file), that counts as one failure. */
function counts(code, passed = 0, failed = 0) {
  return { passed, failed: code === 0 ? failed : Math.max(1, failed) };
}

function vitest(project, { leaveOut = () => [] } = {}) {
  return async () => {
    const excluded = await leaveOut();
    const file = join(reports, `${project}.json`);
    const { code } = await runTool('vitest', [
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...excluded.flatMap((pattern) => ['--exclude', pattern]),
    ]);
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

async function sim() {
  const { code, output } = await run(process.execPath, [join('agent', 'dist', 'sim', 'main.js'), '--seeds', '300'], {
    capture: true,
  });
  const [, passed, failed] = /^sim: (\d+) passed, (\d+) failed/m.exec(output) ?? [];
  return counts(passed === undefined ? 1 : code, Number(passed ?? 0), Number(failed ?? 0));
}

async function e2e() {
  const file = join(reports, 'e2e.json');
  const { code } = await runTool(
    'playwright',
    ['test', '--config', 'e2e/playwright.config.ts', '--reporter=list,json'],
    { env: { PLAYWRIGHT_JSON_OUTPUT_NAME: file, LOCKSTEP_CHROMIUM: await ensureBrowser() } },
  );
  const stats = readJson(file)?.stats;
  return counts(code, (stats?.expected ?? 0) + (stats?.flaky ?? 0), stats?.unexpected);
}

/** Tests the alert rules and the dashboard with a real Prometheus. */
async function monitoring() {
  await ensureProgram('promtool', 'prometheus');
  return vitest('monitoring')();
}

/** Runs drills in their short form, on containers or, with `--local`, on processes. */
async function drills(args) {
  const { code, output } = await run(process.execPath, [join('scripts', 'drill.mjs'), '--short', ...args], {
    capture: true,
  });
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

/** `extra`: runs only on request. The needs of a stage that is `extra` or `optional` may not be met here; it is then left out. */
const stages = [
  { name: 'lint', run: check('biome', ['check', '.']) },
  { name: 'types', run: check('tsc', ['-b']) },
  { name: 'knip', run: check('knip', []) },
  { name: 'unit', run: vitest('unit') },
  { name: 'sim', run: sim },
  { name: 'integration', run: vitest('integration'), programs: ['git', 'tar', 'sed', 'rsync'] },
  { name: 'package', run: vitest('package', { leaveOut: leftOut }), programs: ['tar'] },
  { name: 'monitoring', run: monitoring, optional: true },
  { name: 'e2e', run: e2e, browser: true },
  { name: 'compose', run: compose, extra: true },
  { name: 'drill', run: () => drills(['--local', ...drillsOnProcesses]), extra: true },
];

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
async function runExtra({ run }) {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { ...counts(0), leftOut: error.message };
  }
}

await main(async (args) => {
  const selected = chosen(args);
  await setup();
  for (const name of new Set(selected.flatMap(({ programs = [] }) => programs))) await ensureProgram(name);
  if (selected.some(({ browser }) => browser)) await ensureBrowser();
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });

  let passed = 0;
  let failed = 0;
  const notRun = [];
  for (const stage of selected) {
    console.log(`\n── ${stage.name} ──`);
    const begin = performance.now();
    const result = await (stage.extra || stage.optional ? runExtra(stage) : stage.run());
    passed += result.passed;
    failed += result.failed;
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    if (result.leftOut !== undefined) notRun.push(`Left out: ${stage.name}. ${result.leftOut}`);
    const verdict = result.leftOut !== undefined ? 'left out' : result.failed === 0 ? 'ok' : 'FAILED';
    console.log(`── ${stage.name}: ${verdict}, ${seconds} s`);
    if (result.failed > 0) break;
  }
  // Printed last, where it is read: an incomplete run must not look like a complete one.
  for (const sentence of notRun) console.log(`\n${sentence}`);
  console.log(`\nTests: ${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
