import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { type Bound, limitOf, median, type ProgramName, programs, type Result } from './result.ts';

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
  if (unit === 's') return `${value.toFixed(2)} s`;
  if (unit === '×') return `${value.toFixed(1)} ×`;
  return unit === '%' ? `${value.toFixed(2)} %` : `${value < 10 ? value.toFixed(1) : Math.round(value)} MiB`;
}

const titles: Readonly<Record<ProgramName, string>> = {
  lockstep: 'Lockstep',
  cp: 'cp -a',
  rsync: 'rsync -a',
  rsyncDelta: 'rsync -a --no-whole-file',
  lsyncd: 'lsyncd',
  syncthing: 'Syncthing',
  gluster: 'GlusterFS',
};

const medianOf = (values: readonly number[] | undefined): number | undefined => values && median(values);

function formatRows(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A Markdown table of the medians, with a mark that says whether each target was reached. Programs that ran nothing have no column. */
export function formatTable(results: readonly Result[]): string {
  const ran = programs.filter((program) => results.some((result) => result[program] !== undefined));
  const rows = results.map((result) => {
    const own = median(result.lockstep);
    const bound = (target: Bound): string =>
      `${figure(limitOf(result, target), result.unit)} ${own <= limitOf(result, target) ? '✓' : '✗'}`;
    return [
      result.name,
      ...ran.map((program) => figure(medianOf(result[program]), result.unit)),
      result.rsync ? `${(own / median(result.rsync)).toFixed(2)} ×` : '–',
      bound(result.target),
      bound(result.goal),
      result.note ?? '',
    ];
  });
  return formatRows(
    ['workload', ...ran.map((program) => titles[program]), 'to rsync', 'must reach', 'goal', 'note'],
    rows,
  );
}

/** A Markdown table of processor seconds, then of MiB on the wire, of the workloads for which they were measured; empty if there are none. */
export function formatCosts(results: readonly Result[]): string {
  const measured = results.filter(({ processorS }) => processorS !== undefined);
  if (measured.length === 0) return '';
  const used = programs.filter((program) => measured.some(({ processorS }) => processorS?.[program] !== undefined));
  const wired = programs.filter((program) => measured.some(({ wireMiB }) => wireMiB?.[program] !== undefined));
  const rows = measured.map(({ name, processorS, wireMiB }) => [
    name,
    ...used.map((program) => figure(medianOf(processorS?.[program]), 's')),
    ...wired.map((program) => figure(medianOf(wireMiB?.[program]), 'MiB')),
  ]);
  return formatRows(
    [
      'workload',
      ...used.map((program) => `${titles[program]}, processor`),
      ...wired.map((program) => `${titles[program]}, on the wire`),
    ],
    rows,
  );
}

const width = 920;
const barLeft = 430;
const barWidth = 360;
const barHeight = 15;
const rowGap = 12;

const colours: Readonly<Record<ProgramName, string>> = {
  lockstep: '#2f6fde',
  cp: '#9aa3ad',
  rsync: '#c3863b',
  rsyncDelta: '#a8674f',
  lsyncd: '#7d9b54',
  syncthing: '#8a6fb3',
  gluster: '#b5536b',
};

/** A bar chart of the workloads that other programs also ran, each row scaled to its longest bar. */
export function drawChart(results: readonly Result[], machine: Machine): string {
  const barsOf = (result: Result) => programs.filter((program) => result[program] !== undefined);
  const timed = results.filter((result) => result.unit === 'ms' && barsOf(result).length > 1);
  const parts: string[] = [];
  let top = 44;
  for (const result of timed) {
    const bars = barsOf(result);
    const longest = Math.max(...bars.map((program) => median(result[program] ?? [])));
    parts.push(`<text x="12" y="${top + 22}" class="name">${result.name}</text>`);
    for (const program of bars) {
      const value = median(result[program] ?? []);
      const width = Math.max(2, (value / longest) * barWidth);
      parts.push(
        `<rect x="${barLeft}" y="${top}" width="${width.toFixed(1)}" height="12" rx="2" fill="${colours[program]}"/>`,
        `<text x="${barLeft + width + 6}" y="${top + 10}">${titles[program]} ${figure(value, 'ms')}</text>`,
      );
      top += barHeight;
    }
    top += rowGap;
  }
  const style =
    'text{font:11px system-ui,sans-serif;fill:#333}.name{font-size:12px;font-weight:600}.title{font-size:13px}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img">`,
    `<title>Lockstep compared with other programs</title><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="12" y="24" class="title">Median times to both peers; shorter is better. ${machine.processors}, ${machine.fileSystem}, Node ${machine.node}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
