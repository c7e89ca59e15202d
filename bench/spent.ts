import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { ProgramName, Result, Series } from './result.ts';

const run = promisify(execFile);
const mebibyte = 1_048_576;

/** The cost of one run of a workload. */
export interface Spent {
  readonly ms: number;
  readonly processorMs: number;
  /** Bytes through the loopback device; undefined for a program that does not use it. */
  readonly wireBytes?: number;
}

/** All bytes that the loopback device has carried, each once. */
async function loopbackBytes(): Promise<number> {
  const line = (await readFile('/proc/net/dev', 'utf8')).split('\n').find((text) => text.trim().startsWith('lo:'));
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[0] ?? 0);
}

/** Measures the cost of `work`. `processorMs`: the processor time until now of the processes that do it. */
export async function metered(processorMs: () => Promise<number>, work: () => Promise<unknown>): Promise<Spent> {
  const [usedMs, sentBytes] = [await processorMs(), await loopbackBytes()];
  const startMs = performance.now();
  await work();
  const ms = performance.now() - startMs;
  return { ms, processorMs: (await processorMs()) - usedMs, wireBytes: (await loopbackBytes()) - sentBytes };
}

/** Runs a program and returns what it and its children took, and what it said. */
export async function spentBy(program: string, ...args: string[]): Promise<Spent & { readonly said: string }> {
  const startMs = performance.now();
  // The second line of `times` is the processor time of the children of the shell: minutes and seconds, user and system.
  const { stdout, stderr } = await run('sh', ['-c', '"$@" >&2 || exit; times', 'sh', program, ...args]);
  const ms = performance.now() - startMs;
  const times = [...(stdout.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return {
    ms,
    said: stderr,
    processorMs: times.reduce(
      (sum, [, minutes, seconds]) => sum + 60_000 * Number(minutes) + 1_000 * Number(seconds),
      0,
    ),
  };
}

/** The costs of the runs of one workload, by program. */
export class Expenses {
  readonly #spent = new Map<ProgramName, Spent[]>();

  /** `spent`: undefined if the program did not do it. */
  add(program: ProgramName, spent: Spent | undefined): void {
    if (spent === undefined) return;
    this.#spent.set(program, [...(this.#spent.get(program) ?? []), spent]);
  }

  /** The part of a result that was measured. */
  get result(): Pick<Result, ProgramName | 'processorS' | 'wireMiB'> {
    const times = this.#series(({ ms }) => ms);
    return {
      ...times,
      lockstep: times.lockstep ?? [],
      processorS: this.#series(({ processorMs }) => processorMs / 1_000),
      wireMiB: this.#series(({ wireBytes }) => (wireBytes === undefined ? undefined : wireBytes / mebibyte)),
    };
  }

  #series(value: (spent: Spent) => number | undefined): Series {
    const entries = [...this.#spent].map(
      ([program, spent]) => [program, spent.map(value).filter((it) => it !== undefined)] as const,
    );
    return Object.fromEntries(entries.filter(([, values]) => values.length > 0));
  }
}
