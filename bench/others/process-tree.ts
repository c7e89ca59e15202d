import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Milliseconds of processor time of a process, of its living descendants, and of those that they have waited for. */
export async function processorMsOf(pid: number): Promise<number> {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    // The name of the program comes second, in parentheses, and may contain blanks: proc_pid_stat(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    ticks.set(
      Number(name),
      fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    );
  }
  const sum = (process: number): number =>
    (ticks.get(process) ?? 0) + (children.get(process) ?? []).reduce((total, child) => total + sum(child), 0);
  return (sum(pid) * 1_000) / ticksPerSecond;
}
