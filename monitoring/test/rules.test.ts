import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { problemCodes } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readDashboard } from './_util/dashboard.ts';
import { runbookAnchors } from './_util/documents.ts';
import { metricNames } from './_util/metric-names.ts';
import { monitoring } from './_util/prometheus.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}

interface RuleTest {
  readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

const ruleTests = ['alerts.test.yml', 'alerts-slow.test.yml'];

const read = async (name: string) => parse(await readFile(join(monitoring, name), 'utf8'));

async function alertRules(): Promise<readonly Rule[]> {
  const { groups }: { groups: { rules: Rule[] }[] } = await read('alerts.yml');
  return groups.flatMap(({ rules }) => rules);
}

/** Resolves with the output of promtool; rejects with it if promtool finds a mistake. */
const promtool = async (...args: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)('promtool', args, { cwd: monitoring });
  return stdout + stderr;
};

test.each([
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', '--lint-fatal', 'alerts.yml'],
  ['test', 'rules', ...ruleTests],
])('promtool %s %s', async (...args) => {
  expect(await promtool(...args)).toContain('SUCCESS');
});

test('every alert is raised by one of the rule tests', async () => {
  const files: { tests: RuleTest[] }[] = await Promise.all(ruleTests.map(read));
  const cases = files.flatMap(({ tests }) => tests).flatMap(({ alert_rule_test = [] }) => alert_rule_test);
  const raised = new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname));
  expect((await alertRules()).map(({ alert }) => alert).filter((alert) => !raised.has(alert))).toEqual([]);
});

test('every alert has a severity, says what to do, and links to an entry of the runbook', async () => {
  const anchors = await runbookAnchors();
  const rules = await alertRules();
  expect(rules.length).toBeGreaterThan(15);
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(10);
    expect(annotations.description, alert).toMatch(/\.$/);
    const [page, anchor = ''] = annotations.runbook.split('#');
    expect(page, alert).toBe('docs/OPERATIONS.md');
    const entries = anchor === '{{ $labels.code }}' ? problemCodes : [anchor];
    expect(
      entries.filter((entry) => !anchors.has(entry)),
      `entries to which ${alert} links`,
    ).toEqual([]);
  }
});

test('alerts on problem codes name only existing codes', async () => {
  const named = (await alertRules()).flatMap(({ expr }) =>
    [...expr.matchAll(/code[!=]~?"([^"]+)"/g)].flatMap(([, codes = '']) => codes.split('|')),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((code) => !(problemCodes as readonly string[]).includes(code))).toEqual([]);
});

test('the panels of the dashboard have unique ids and do not overlap', async () => {
  const { panels } = await readDashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
    expect(x + w, title).toBeLessThanOrEqual(24);
    return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
});

test.each<[query: string, metrics: readonly string[]]>([
  ['up{job="lockstep"} == 0', ['up']],
  ['max by (peer) (a_b{code=~"disk-full|x"} and c == 1) > 300', ['a_b', 'c']],
  ['a == 0 and on (job, peer_id) max by (job) (a) == 1', ['a']],
  ['1 + sum by (x) (rate(a_total[5m])) <= 2.5e3 * b offset 1h', ['a_total', 'b']],
  ['time() - process_start_time_seconds', ['process_start_time_seconds']],
])('the metrics of %s', (query, metrics) => {
  expect(metricNames(query)).toEqual(metrics);
});
