import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { freePort } from '../../../testkit/free-port.ts';

/** The directory of the shipped files: scrape configuration, alert rules, dashboard. */
export const monitoring = fileURLToPath(new URL('../../', import.meta.url));

/** One alert rule as Prometheus has parsed it. */
export interface AlertRule {
  readonly name: string;
  readonly query: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly health: string;
}

/** An alert that is pending or firing. */
export interface Alert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface PrometheusConfig {
  global: Record<string, string>;
  scrape_configs: { static_configs?: unknown; dns_sd_configs?: unknown }[];
}

interface Rules {
  groups: { rules: { for?: string }[] }[];
}

/**
 * A real Prometheus with the shipped files. Only two things are changed: it scrapes the targets that `scrape` names (by files, as on real
 * machines) every second, and no alert waits before it fires.
 */
export class Prometheus {
  readonly #directory: string;
  readonly #port: number;
  readonly #log: string[] = [];
  #child: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  /** Resolves when Prometheus is ready. */
  static async start(): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'lockstep-prometheus-'));
    const prometheus = new Prometheus(directory, await freePort());
    try {
      await prometheus.#prepare();
      await prometheus.#run();
    } catch (error) {
      prometheus.printLog();
      await prometheus.close();
      throw error;
    }
    return prometheus;
  }

  /** Replaces the targets: `host:port` of each agent's dashboard. */
  async scrape(targets: readonly string[]): Promise<void> {
    const file = join(this.#directory, 'targets', 'members.yml');
    // Prometheus reads the file as soon as it exists, so it must appear complete.
    await writeFile(`${file}.new`, stringify([{ targets }]));
    await rename(`${file}.new`, file);
  }

  async targets(): Promise<readonly Target[]> {
    const { activeTargets } = await this.#ask<{ activeTargets: Target[] }>('targets');
    return activeTargets;
  }

  /** All alert rules, or those of one group. */
  async alertRules(group?: string): Promise<readonly AlertRule[]> {
    const { groups } = await this.#ask<{ groups: { name: string; rules: AlertRule[] }[] }>('rules?type=alert');
    return groups.filter(({ name }) => group === undefined || name === group).flatMap(({ rules }) => rules);
  }

  async alerts(): Promise<readonly Alert[]> {
    const { alerts } = await this.#ask<{ alerts: Alert[] }>('alerts');
    return alerts;
  }

  /** The current series of a query. Rejects with the error in it. */
  async query(query: string): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> {
    const { result } = await this.#ask<{ result: { metric: Record<string, string> }[] }>(
      `query?${new URLSearchParams({ query })}`,
    );
    return result;
  }

  printLog(): void {
    console.error(`\n=== log of Prometheus\n${this.#log.slice(-60).join('\n')}`);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #prepare(): Promise<void> {
    await cp(monitoring, this.#directory, { recursive: true });
    await this.#change<PrometheusConfig>('prometheus.yml', (config) => {
      Object.assign(config.global, { scrape_interval: '1s', evaluation_interval: '1s' });
      for (const scraped of config.scrape_configs) {
        delete scraped.static_configs;
        delete scraped.dns_sd_configs;
      }
    });
    await this.#change<Rules>('alerts.yml', ({ groups }) => {
      for (const rule of groups.flatMap(({ rules }) => rules)) delete rule.for;
    });
  }

  async #change<Content>(name: string, change: (content: Content) => void): Promise<void> {
    const path = join(this.#directory, name);
    const content: Content = parse(await readFile(path, 'utf8'));
    change(content);
    await writeFile(path, stringify(content));
  }

  async #run(): Promise<void> {
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(this.#directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(this.#directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${this.#port}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => this.#log.push(...chunk.trimEnd().split('\n')));
    await once(child, 'spawn');
    await vi.waitFor(
      async () => {
        const { ok, status } = await fetch(`http://127.0.0.1:${this.#port}/-/ready`);
        if (!ok) throw new Error(`Prometheus is not ready: ${status}`);
      },
      { timeout: 30_000, interval: 100 },
    );
  }

  async #ask<Data>(what: string): Promise<Data> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/v1/${what}`);
    const answer = (await response.json()) as { status: string; error?: string; data: Data };
    if (answer.status !== 'success') throw new Error(`Prometheus answers to ${what}: ${answer.error}`);
    return answer.data;
  }
}
