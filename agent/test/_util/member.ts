import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  apiPrefix,
  type Status,
  statusSchema,
  type VerifyResult,
  verifyResultSchema,
  type WaitResult,
  waitResultSchema,
} from '@lockstep/shared/api';
import { readTree, type Tree } from './tree.ts';

/** The program that people run. */
export const lockstepProgram = fileURLToPath(new URL('../../bin/lockstep.js', import.meta.url));

/** Lines of an agent's log that are kept for a test that fails. */
const logLinesMax = 400;

/** How an agent is started, beyond what its config says. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of `up`. */
  readonly args?: readonly string[];
  /** What runs the agent: a program and its arguments, before `node`. */
  readonly wrapper?: readonly string[];
  /** False: do not wait until it is ready. */
  readonly ready?: boolean;
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `lockstep` with these arguments to its end. */
export async function lockstep(
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly wrapper?: readonly string[];
  } = {},
): Promise<Outcome> {
  const [program = process.execPath, ...rest] = [...(options.wrapper ?? []), process.execPath];
  const child = spawn(program, [...rest, lockstepProgram, ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** One real agent and its folder. It can be started, stopped, killed and started again. */
export class Member {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  /** Used at every start, under what that start brings itself. */
  readonly defaults: StartOptions;
  readonly log: string[] = [];
  #child: ChildProcess | undefined;

  constructor(place: { name: string; folder: string; port: number; dashboardPort: number }, defaults: StartOptions) {
    this.name = place.name;
    this.folder = place.folder;
    this.port = place.port;
    this.url = `http://127.0.0.1:${place.dashboardPort}`;
    this.defaults = defaults;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get running(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Absolute path of an entry of the folder. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  state(...names: readonly string[]): string {
    return join(this.folder, '.lockstep', ...names);
  }

  /** Starts the agent and resolves when it says that it is ready. */
  async start(options: StartOptions = {}): Promise<void> {
    const { env, args = [], wrapper = [], ready = true } = { ...this.defaults, ...options };
    const [program = process.execPath, ...rest] = [...wrapper, process.execPath];
    this.#note(`--- ${this.name} starts ${JSON.stringify(env ?? {})}`);
    const child = spawn(program, [...rest, lockstepProgram, 'up', this.folder, '--stop-with-input', ...args], {
      env: { ...process.env, LOCKSTEP_LOG_LEVEL: 'info', ...this.defaults.env, ...env },
      // The open input ends with this process, however it ends, and the agent with it.
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => this.#note(chunk));
    const said = new Promise<void>((resolve, reject) => {
      let seen = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        seen += chunk;
        if (/^ready$/m.test(seen)) resolve();
      });
      child.once('close', (code, signal) => {
        this.#note(`--- ${this.name} ended with ${signal ?? code}`);
        reject(new Error(`The agent of ${this.name} ended with ${signal ?? code}: ${this.log.slice(-20).join('\n')}`));
      });
    });
    if (ready) await said;
    else said.catch(() => undefined);
  }

  /** Resolves when the process is gone. */
  async ended(timeoutMs = 60_000): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.running) return;
    await once(child, 'exit', { signal: AbortSignal.timeout(timeoutMs) });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child?.kill(signal);
  }

  async stop(): Promise<void> {
    const ended = this.ended();
    this.signal('SIGTERM');
    this.signal('SIGCONT');
    await ended;
  }

  async kill(): Promise<void> {
    const ended = this.ended();
    this.signal('SIGKILL');
    await ended;
  }

  async restart(options: StartOptions = {}): Promise<void> {
    await this.stop();
    await this.start(options);
  }

  async status(): Promise<Status> {
    return statusSchema.parse(await this.#ask('GET', '/status'));
  }

  /** See `lockstep wait`. */
  async wait(what: { for: 'all' | 'majority' | number; path?: string; timeoutMs?: number }): Promise<WaitResult> {
    return waitResultSchema.parse(await this.#ask('POST', '/wait', { timeoutMs: 60_000, ...what }));
  }

  async verify(): Promise<VerifyResult> {
    return verifyResultSchema.parse(await this.#ask('POST', '/verify', {}));
  }

  /** Resolves when the whole folder has been compared with the journal. */
  async rescan(): Promise<void> {
    await this.#ask('POST', '/rescan', {});
  }

  /** The value of a metric; with `labels` those series that hold this text, summed. */
  async metric(name: string, labels = ''): Promise<number> {
    const lines = (await this.#send('GET', '/metrics')).split('\n');
    const series = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return series
      .filter((line) => line.includes(labels))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Codes of the problems that it reports now. */
  async problems(): Promise<readonly string[]> {
    return (await this.status()).problems.map(({ code }) => code);
  }

  /** What the API answers to a GET of this path. */
  get(path: string): Promise<unknown> {
    return this.#ask('GET', path);
  }

  tree(): Tree {
    return readTree(this.folder);
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return JSON.parse(await this.#send(method, apiPrefix + path, body));
  }

  #send(method: string, path: string, body?: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const outgoing = request(new URL(path, this.url), { method, headers, agent: false }, (incoming) => {
        text(incoming).then((answer) => {
          if (incoming.statusCode === 200) resolve(answer);
          else reject(new Error(`${method} ${path} of ${this.name}: ${incoming.statusCode} ${answer}`));
        }, reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  #note(lines: string): void {
    this.log.push(...lines.trimEnd().split('\n'));
    if (this.log.length > logLinesMax) this.log.splice(0, this.log.length - logLinesMax);
  }
}
