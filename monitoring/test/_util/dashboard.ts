import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitoring } from './prometheus.ts';

/** The values that Grafana inserts for the variables when all agents are chosen. */
const variables: Readonly<Record<string, string>> = { $instance: '.*', $__rate_interval: '10s' };

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

/** The parts of the dashboard that the tests use. */
interface Dashboard {
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly panels: readonly Panel[];
}

/** The shipped dashboard. */
export async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(monitoring, 'grafana/dashboards/lockstep.json'), 'utf8'));
}

/** A query of a panel as Grafana sends it. */
export function filledIn(query: string): string {
  return query.replaceAll(/\$\w+/g, (name) => variables[name] ?? name);
}
