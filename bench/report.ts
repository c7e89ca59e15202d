import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { limitOf, median, type Result } from './result.ts';

/** The machine on which the figures were measured. */
export interface Machine {
  readonly processors: string;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly fileSystem: string;
  readonly node: string;
}

export function describeMachine(directory: string): Machine {
  const [, type] = execFileSync('df', ['--output=fstype', directory], { encoding: 'utf8' }).trim().split('\n');
  return {
    processors: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: `${readFileSync('/etc/os-release', 'utf8').match(/PRETTY_NAME="(.*)"/)?.[1] ?? ''}, Linux ${release()}`,
    fileSystem: type?.trim() ?? 'unknown',
    node: process.version,
  };
}

function figure(value: number | undefined, unit: Result['unit']): string {
  if (value === undefined) return '–';
  if (unit === 'ms') return value < 1000 ? `${value.toFixed(1)} ms` : `${(value / 1000).toFixed(2)} s`;
  return unit === '%' ? `${value.toFixed(2)} %` : `${Math.round(value)} MiB`;
}

/** A Markdown table of the medians, with a mark that says whether each target was reached. */
export function formatTable(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const own = median(result.lockstep);
    const other = (values: readonly number[] | undefined): string => figure(values && median(values), result.unit);
    const ratio = result.rsync ? `${(own / median(result.rsync)).toFixed(2)} ×` : '–';
    const bound = (target: Result['target']): string =>
      `${figure(limitOf(result, target), result.unit)} ${own <= limitOf(result, target) ? '✓' : '✗'}`;
    return `| ${[result.name, figure(own, result.unit), other(result.cp), other(result.rsync), ratio, bound(result.target), bound(result.goal)].join(' | ')} |`;
  });
  return [
    '| workload | Lockstep | cp -a | rsync -a | to rsync | must reach | goal |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const rowHeight = 34;
const barLeft = 330;
const barWidth = 380;

/** A bar chart of the workloads that cp or rsync also ran, each row scaled to its longest bar. */
export function drawChart(results: readonly Result[], machine: Machine): string {
  const timed = results.filter(({ unit, cp, rsync }) => unit === 'ms' && (cp ?? rsync) !== undefined);
  const height = 60 + timed.length * rowHeight * 1.6;
  const parts: string[] = [];
  for (const [row, result] of timed.entries()) {
    const bars = [
      ['Lockstep', result.lockstep, '#2f6fde'],
      ['cp -a', result.cp, '#9aa3ad'],
      ['rsync -a', result.rsync, '#c3863b'],
    ] as const;
    const longest = Math.max(...bars.map(([, values]) => (values ? median(values) : 0)));
    const top = 44 + row * rowHeight * 1.6;
    parts.push(`<text x="12" y="${top + 22}" class="name">${result.name}</text>`);
    for (const [index, [name, values, colour]] of bars.entries()) {
      if (values === undefined) continue;
      const value = median(values);
      const width = Math.max(2, (value / longest) * barWidth);
      const y = top + index * 15;
      parts.push(
        `<rect x="${barLeft}" y="${y}" width="${width.toFixed(1)}" height="12" rx="2" fill="${colour}"/>`,
        `<text x="${barLeft + width + 6}" y="${y + 10}">${name} ${figure(value, 'ms')}</text>`,
      );
    }
  }
  const style =
    'text{font:11px system-ui,sans-serif;fill:#333}.name{font-size:12px;font-weight:600}.title{font-size:13px}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 ${height}" width="880" height="${height}" role="img">`,
    `<title>Lockstep compared with cp and rsync</title><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="12" y="24" class="title">Median times to both peers; shorter is better. ${machine.processors}, ${machine.fileSystem}, Node ${machine.node}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
