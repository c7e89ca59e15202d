// `npm test`: every check that needs nothing but Node, npm and git, in the order of how soon it can say no. Stops at the first that
// fails. With --complete also those that need more: what this machine does not let us have is named in the last lines.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBrowser } from './lib/browser.mjs';
import { ensureProgram, hasProgram } from './lib/dependencies.mjs';
import { buildImage, ensureDocker } from './lib/docker.mjs';
import { readJson, root, run, runTool, SetupError, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const reports = join(root, 'node_modules', '.cache', 'lockstep-tests');

/** A check without tests of its own to count: when it fails, it counts as one. */
function check(tool, args) {
  return async () => {
    const { code } = await runTool(tool, args);
    return { passed: 0, failed: code === 0 ? 0 : 1 };
  };
}

/** The counts of a runner; a runner that fails without a failed test (a crash, a broken file) counts as one failure. */
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

/** Tests of the installed package that need what not every machine has. */
const particular = [
  { tests: 'systemd-verify', program: 'systemd-analyze', debianPackage: 'systemd' },
  { tests: 'systemd-run', program: 'systemd-analyze', debianPackage: 'systemd', asRoot: true },
  { tests: 'completion-zsh', program: 'zsh' },
  { tests: 'completion-fish', program: 'fish' },
];

/** Those of them that cannot run here, each with a sentence that says why. */
async function leftOut() {
  const patterns = [];
  for (const { tests, program, debianPackage = program, asRoot = false } of particular) {
    const isThere = await hasProgram(program, debianPackage);
    if (isThere && (!asRoot || process.getuid?.() === 0)) continue;
    const how = isThere ? 'run npm test as root' : `install it (on Debian: apt-get install -y ${debianPackage})`;
    console.log(`Left out: ${tests}.test.ts needs ${program}${asRoot ? ' and root' : ''}. To have it run, ${how}.`);
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

/** Alert rules and dashboard, against a real Prometheus. */
async function monitoring() {
  await ensureProgram('promtool', 'prometheus');
  return vitest('monitoring')();
}

/** Drills in their short form, on containers or, with `--local`, on processes. */
async function drills(args) {
  const { code, output } = await run(process.execPath, [join('scripts', 'drill.mjs'), '--short', ...args], {
    capture: true,
  });
  const [, survived, failed] = /^Drills: (\d+) survived, (\d+) failed/m.exec(output) ?? [];
  return counts(survived === undefined ? 1 : code, Number(survived ?? 0), Number(failed ?? 0));
}

/** Drills that are done on containers: they kill, freeze and cut off, which is another thing there than with processes. */
const drillsOnContainers = ['kill', 'partition-3', 'pause', 'newcomer'];

/** On processes the tests of `integration` play the scenes. These they do not, and where there are no containers nobody else does. */
const drillsOnProcesses = ['kill', 'pause'];

/** The lab in containers, then the drills that differ there. An engine that is started for it is stopped after it. */
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

/** `extra`: only run when it is asked for. What it needs, or one that is `optional`, may not be to be had here. */
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

/** The stages that `--only a,b` names, or all of them with `--complete`; without either all that need nothing special. */
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

/** Runs an extra or optional stage where it can be run. What the machine does not let us have is told, and nothing has failed. */
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
  // Last, where it is read: a run that could not try everything must not look like one that did.
  for (const sentence of notRun) console.log(`\n${sentence}`);
  console.log(`\nTests: ${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
