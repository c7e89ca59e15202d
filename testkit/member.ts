import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { MemberApi, type Usage } from './api.ts';
import { lockstepProgram } from './repository.ts';

/** The number of lines of an agent's log that are kept for a failed test. */
const logLinesMax = 400;

/** The options of an agent's start, in addition to its configuration. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of `up`. */
  readonly args?: readonly string[];
  /** The command that runs the agent: a program and its arguments, before `node`. */
  readonly wrapper?: readonly string[];
  /** The `lockstep.js` of another build. */
  readonly program?: string;
  /** False: do not wait until it is ready. */
  readonly ready?: boolean;
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `lockstep` with these arguments until it ends. */
export async function lockstep(
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly wrapper?: readonly string[];
    readonly program?: string;
  } = {},
): Promise<Outcome> {
  // The program itself, as a person starts it: its first line has options of Node.
  const [program = lockstepProgram, ...rest] = [...(options.wrapper ?? []), options.program ?? lockstepProgram];
  const child = spawn(program, [...rest, ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, FORCE_COLOR: '0', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Sets the password of a member's dashboard, as `lockstep dashboard password` does. */
export async function setPassword({ folder }: { readonly folder: string }, password: string): Promise<Outcome> {
  const child = spawn(process.execPath, [lockstepProgram, 'dashboard', 'password', folder]);
  child.stdin.end(`${password}\n`);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** One real agent and its folder. It can be started, stopped, killed and restarted. */
export class Member extends MemberApi {
  readonly port: number;
  /** The options of every start; those of the start itself take precedence. */
  readonly defaults: StartOptions;
  readonly log: string[] = [];
  #child: ChildProcess | undefined;
  /** True once all output of the process has arrived, which may be after its end. */
  #isClosed = true;

  constructor(place: { name: string; folder: string; port: number; dashboardPort: number }, defaults: StartOptions) {
    super(place.name, place.folder, `http://127.0.0.1:${place.dashboardPort}/`);
    this.port = place.port;
    this.defaults = defaults;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get running(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** The id of the current or last process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the agent and resolves when it says that it is ready. */
  async start(options: StartOptions = {}): Promise<void> {
    const {
      env,
      args = [],
      wrapper = [],
      program: script = lockstepProgram,
      ready = true,
    } = { ...this.defaults, ...options };
    const [program = script, ...rest] = [...wrapper, script];
    this.#note(`--- ${this.name} starts ${JSON.stringify(env ?? {})}`);
    const child = spawn(program, [...rest, 'up', this.folder, '--stop-with-input', ...args], {
      env: { ...process.env, LOCKSTEP_LOG_LEVEL: 'info', ...this.defaults.env, ...env },
      // The pipe closes when this process ends, however it ends, and the agent stops with its input.
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#isClosed = false;
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => this.#note(chunk));
    const said = new Promise<void>((resolve, reject) => {
      let seen = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        seen += chunk;
        if (/^ready$/m.test(seen)) resolve();
      });
      child.once('close', (code, signal) => {
        this.#isClosed = true;
        this.#note(`--- ${this.name} ended with ${signal ?? code}`);
        reject(new Error(`The agent of ${this.name} ended with ${signal ?? code}: ${this.log.slice(-20).join('\n')}`));
      });
    });
    if (ready) await said;
    else said.catch(() => undefined);
  }

  /** Resolves when the process is gone, and `log` is complete. */
  async ended(timeoutMs = 60_000): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isClosed) return;
    await once(child, 'close', { signal: AbortSignal.timeout(timeoutMs) });
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

  /**
   * The agent's resources and the processor time of its threads. The time is the scheduler's own count: that in `stat` is sampled at each
   * tick of the kernel. That is too coarse for an agent that wakes for a tenth of a millisecond.
   */
  async usage(): Promise<Usage & { readonly cpuMs: number }> {
    const process = `/proc/${this.pid}`;
    const statm = await readFile(`${process}/statm`, 'utf8');
    const descriptors = await readdir(`${process}/fd`);
    let cpuNs = 0;
    for (const thread of await readdir(`${process}/task`)) {
      // A thread that has ended since counts as 0.
      const schedstat = await readFile(`${process}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      cpuNs += Number(schedstat.split(' ')[0]);
    }
    return {
      cpuMs: cpuNs / 1e6,
      memoryMiB: (Number(statm.split(' ')[1]) * 4096) / 1024 ** 2,
      descriptors: descriptors.length,
    };
  }

  #note(lines: string): void {
    this.log.push(...lines.trimEnd().split('\n'));
    if (this.log.length > logLinesMax) this.log.splice(0, this.log.length - logLinesMax);
  }
}
