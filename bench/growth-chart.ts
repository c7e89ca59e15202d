/** The cost of a number of files or members. */
export interface Point {
  readonly by: 'files' | 'members';
  readonly count: number;
  /** Until all members have all files. */
  readonly seconds: number;
  /** Of all agents together. */
  readonly processorS: number;
  readonly wireMiB: number;
  /** Resident, of one agent, when the files have arrived. */
  readonly memoryMiB: number;
  /** Of one processor, for each member at rest. */
  readonly idleShare?: number;
}

const plot = { width: 250, height: 170, left: 56, top: 46, right: 24, bottom: 40 };
const headHeight = 40;

interface Panel {
  readonly title: string;
  readonly by: Point['by'];
  readonly value: (point: Point) => number | undefined;
}

const panels: readonly Panel[] = [
  { title: 'seconds', by: 'files', value: ({ seconds }) => seconds },
  { title: 'processor ms for a file', by: 'files', value: ({ processorS, count }) => (1_000 * processorS) / count },
  { title: 'MiB of an agent', by: 'files', value: ({ memoryMiB }) => memoryMiB },
  { title: 'seconds for 1,000 files', by: 'members', value: ({ seconds }) => seconds },
  { title: 'processor s for a member', by: 'members', value: ({ processorS, count }) => processorS / count },
  { title: 'MiB of an agent', by: 'members', value: ({ memoryMiB }) => memoryMiB },
  { title: '% of a core at rest', by: 'members', value: ({ idleShare }) => idleShare },
];

/** A Markdown table of the points. */
export function formatGrowth(points: readonly Point[]): string {
  const rows = points.map(({ by, count, seconds, processorS, wireMiB, memoryMiB, idleShare }) =>
    [
      `${count.toLocaleString('en')} ${by}`,
      `${seconds.toFixed(2)} s`,
      `${processorS.toFixed(2)} s`,
      `${wireMiB.toFixed(1)} MiB`,
      `${Math.round(memoryMiB)} MiB`,
      idleShare === undefined ? '–' : `${idleShare.toFixed(2)} %`,
    ].join(' | '),
  );
  return [
    '| | time | processor, all agents | on the wire | memory of an agent | at rest, share of a core |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

/** One small chart for each cost. The counts have a logarithmic axis: a line that stays level is a cost that does not grow. */
export function drawGrowth(points: readonly Point[]): string {
  const wide = plot.left + plot.width + plot.right;
  const high = plot.top + plot.height + plot.bottom;
  const shown = (['files', 'members'] as const).map((by) => panels.filter((panel) => panel.by === by));
  const drawn = shown.flatMap((row, y) =>
    row.map((panel, x) => {
      const own = points.filter((point) => point.by === panel.by);
      return `<g transform="translate(${x * wide},${headHeight + y * high})">${own.length < 2 ? '' : drawPanel(panel, own)}</g>`;
    }),
  );
  const width = wide * Math.max(...shown.map(({ length }) => length));
  const height = headHeight + high * shown.length;
  const style = 'text{font:11px system-ui,sans-serif;fill:#333}.title{font-size:13px;font-weight:600}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>What files and members cost</title><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>`,
    '<text x="12" y="24" class="title">What files (above, on three members) and members (below) cost</text>',
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel({ title, by, value }: Panel, points: readonly Point[]): string {
  const values = points.map((point) => value(point) ?? 0);
  const [first, last] = [points[0]?.count ?? 1, points.at(-1)?.count ?? 1];
  const highest = Math.max(...values);
  const x = (count: number): number => plot.left + (plot.width * Math.log(count / first)) / Math.log(last / first);
  const y = (height: number): number => plot.top + plot.height * (1 - height / highest);
  const label = (number: number): string =>
    number >= 100 ? Math.round(number).toLocaleString('en') : number.toPrecision(2);
  const at = points.map(({ count }, index) => `${x(count).toFixed(1)},${y(values[index] ?? 0).toFixed(1)}`);
  const floor = plot.top + plot.height;
  return [
    `<text x="${plot.left}" y="${plot.top - 22}" class="title">${title}</text>`,
    `<path d="M${plot.left},${plot.top}V${floor}H${plot.left + plot.width}" fill="none" stroke="#9aa3ad"/>`,
    `<polyline points="${at.join(' ')}" fill="none" stroke="#2f6fde" stroke-width="2"/>`,
    ...points.map(({ count }, index) => {
      const [left, top] = [x(count), y(values[index] ?? 0)];
      return [
        `<circle cx="${left}" cy="${top}" r="3" fill="#2f6fde"/>`,
        `<text x="${left}" y="${top - 7}" text-anchor="middle">${label(values[index] ?? 0)}</text>`,
        `<text x="${left}" y="${floor + 16}" text-anchor="middle">${count.toLocaleString('en')}</text>`,
      ].join('');
    }),
    `<text x="${plot.left + plot.width}" y="${floor + 32}" text-anchor="end">${by}</text>`,
  ].join('');
}
