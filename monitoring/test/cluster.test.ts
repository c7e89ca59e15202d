import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { filledIn, readDashboard } from './_util/dashboard.ts';
import { documentedMetrics } from './_util/documents.ts';
import { metricNames } from './_util/metric-names.ts';
import { Prometheus } from './_util/prometheus.ts';

const patience = { timeout: 60_000, interval: 250 };

const cluster = useCluster(['ant', 'bee', 'cat']);
let prometheus: Prometheus;

const dashboardOf = (member: Member): string => new URL(member.url).host;
const metricsOf = async (member: Member): Promise<string> => (await fetch(`${member.url}metrics`)).text();

/** The labels of each firing alert, except those about this machine: its disk may be small, and it may be busy. */
async function firing(): Promise<readonly object[]> {
  const ofMachine = new Set((await prometheus.alertRules('lockstep-resources')).map(({ name }) => name));
  const alerts = (await prometheus.alerts()).filter(({ state }) => state === 'firing').map(({ labels }) => labels);
  return alerts.filter(({ alertname = '' }) => !ofMachine.has(alertname));
}

beforeAll(async () => {
  prometheus = await Prometheus.start();
  await prometheus.scrape(cluster().members.map(dashboardOf));
});
afterAll(() => prometheus?.close());
beforeEach((context) => context.onTestFailed(() => prometheus.printLog()));

test('every agent is scraped, and every rule is valid', async () => {
  await vi.waitFor(async () => {
    const targets = await prometheus.targets();
    expect(targets.map(({ health, lastError }) => ({ health, lastError }))).toEqual(
      cluster().members.map(() => ({ health: 'up', lastError: '' })),
    );
    expect(targets.map(({ labels }) => labels.job)).toEqual(cluster().members.map(() => 'lockstep'));
    expect((await prometheus.alertRules()).map(({ health }) => health)).not.toContain('unknown');
  }, patience);
  const rules = await prometheus.alertRules();
  expect(rules.length).toBeGreaterThan(15);
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
});

test('a healthy cluster raises no alert', async () => {
  await cluster().settled();
  await vi.waitFor(async () => expect(await firing()).toEqual([]), patience);
});

test('alerts and dashboard use only existing metrics, and docs/METRICS.md describes all of them', async () => {
  const exposed = await metricsOf(cluster().member('ant'));
  const types = new Map(
    [...exposed.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const documented = await documentedMetrics();
  expect([...documented].sort()).toEqual([...types].sort());

  // Prometheus makes `up` and `ALERTS` itself.
  const known = new Set([...types.keys(), 'up', 'ALERTS']);
  for (const [name, type] of types) {
    if (type === 'histogram') for (const suffix of ['_sum', '_count', '_bucket']) known.add(name + suffix);
  }
  const dashboard = await readDashboard();
  const queries = [
    ...(await prometheus.alertRules()).map(({ query }) => query),
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => filledIn(expr))),
    ...dashboard.annotations.list.map(({ expr }) => expr),
  ];
  const named = queries.flatMap((query) => metricNames(query));
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('promtool finds no mistake in the names and texts of our metrics', async () => {
  const promtool = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'ignore', 'pipe'] });
  promtool.stdin.end(await metricsOf(cluster().member('ant')));
  const [said] = await Promise.all([text(promtool.stderr), once(promtool, 'close')]);
  // We do not choose the names of the metrics that prom-client adds.
  expect(said.split('\n').filter((line) => line.includes('lockstep_') || line.includes('error'))).toEqual([]);
});

test('every panel of the dashboard shows something', async () => {
  await writeFile(cluster().member('ant').path('some'), 'some');
  await cluster().settled();
  const { panels } = await readDashboard();
  expect(panels.filter(({ type, targets = [] }) => type !== 'row' && targets.length === 0)).toEqual([]);
  await vi.waitFor(async () => {
    const empty: string[] = [];
    for (const { title, targets = [] } of panels) {
      for (const { expr } of targets) {
        if ((await prometheus.query(filledIn(expr))).length === 0) empty.push(`${title}: ${expr}`);
      }
    }
    expect(empty).toEqual([]);
  }, patience);
});

test('an alert fires when a member is killed, and ends when the member is back', async () => {
  const cat = cluster().member('cat');
  await cat.kill();
  await vi.waitFor(async () => {
    const alerts = await firing();
    expect(alerts).toContainEqual(expect.objectContaining({ alertname: 'LockstepMemberDown', peer: 'cat' }));
    expect(alerts).toContainEqual(
      expect.objectContaining({ alertname: 'LockstepAgentNotScraped', instance: dashboardOf(cat) }),
    );
  }, patience);
  await cat.start();
  await cluster().connected();
  await cluster().settled();
  await vi.waitFor(async () => expect(await firing()).toEqual([]), patience);
});

test('a problem raises the alert of its code, which links to its runbook entry, until it is solved', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await writeFile(ant.path('.lockstepignore'), '*.o\n');
  await cluster().settled();
  await vi.waitFor(async () => expect(await firing()).toEqual([]), patience);
  await appendFile(ant.path('.lockstepignore'), '[\n');
  await vi.waitFor(async () => {
    const alerts = await prometheus.alerts();
    expect(alerts).toContainEqual(
      expect.objectContaining({
        labels: expect.objectContaining({
          alertname: 'LockstepProblemNoted',
          code: 'ignore-rule',
          instance: dashboardOf(bee),
        }),
        annotations: expect.objectContaining({ runbook: 'docs/OPERATIONS.md#ignore-rule' }),
      }),
    );
  }, patience);
  await writeFile(ant.path('.lockstepignore'), '*.o\n');
  await vi.waitFor(async () => expect(await firing()).toEqual([]), patience);
});
