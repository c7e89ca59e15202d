import type { MemberReport } from '@lockstep/shared/api';
import { Random } from '../sim/random.ts';

const names =
  'ant asp bee boar büro-süd cat crow deer dog eel elk finch fox gnu goat hare hen ibis iguana jackal jay kite koi lark lynx mink mole narwhal newt ocelot owl pig pike quail ram rook seal swan tern toad urial vole wasp workshop-laptop-of-the-harbour-office wren xerus yak yeti zebu zorilla'.split(
    ' ',
  );

/** Where the machines stand: round trips within a site are short, and between two as far as the ocean is wide. */
const sites = ['lisbon', 'oslo', 'tokyo'] as const;
const betweenSitesMs = [
  [0.4, 48, 228],
  [48, 0.4, 262],
  [228, 262, 0.4],
] as const;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One machine of the made-up cluster. */
export interface Part {
  readonly id: string;
  readonly name: string;
  readonly site: number;
  /** What is not usual about it, given when the show began. */
  readonly odd: (begunAt: number) => Partial<MemberReport>;
}

/** What happens to whom: everything that the page can say of a member is said of one of them. */
const odd: Readonly<Record<string, Part['odd']>> = {
  ant: () => ({ problems: 2, trouble: 'path-permission' }),
  koi: (at) => ({
    state: 'syncing',
    stateSince: at - 214_000,
    behind: 76_904,
    behindSeconds: 214,
    pending: 0,
    files: 18_220,
    bytes: 9.1e9,
  }),
  lynx: () => ({ behind: 37, behindSeconds: 4, pending: 37 }),
  mole: (at) => ({
    paused: true,
    stateSince: at - 5_400_000,
    connected: false,
    state: 'down',
    behind: 512,
    behindSeconds: 5_400,
  }),
  owl: (at) => ({
    state: 'down',
    stateSince: at - 3 * hourMs,
    connected: false,
    lastSeenAt: at - 3 * hourMs,
    lastError: 'It said nothing for 5 seconds, though the connection was open.',
    behind: 2_118,
    behindSeconds: 10_800,
  }),
  ram: () => ({ behind: 1_204, behindSeconds: 1_020, pending: 1_204, problems: 1, trouble: 'disk-full', freeBytes: 0 }),
  seal: () => ({ problems: 1, trouble: 'clock-skew', clockSkewMs: 92_000 }),
  swan: (at) => ({ state: 'suspect', stateSince: at - 2_000, lastSeenAt: at - 2_400 }),
  tern: (at) => ({
    state: 'down',
    stopped: true,
    stateSince: at - 26 * hourMs,
    connected: false,
    behind: 5_310,
    behindSeconds: 93_600,
  }),
  yeti: (at) => ({ state: 'left', stateSince: at - 200 * hourMs, connected: false }),
};

const usual = () => ({});

/** All machines, the one that is asked first; the same each time. */
export function cast(): readonly Part[] {
  const random = new Random(50);
  return names.map((name, index) => ({
    id: random.base32(52),
    name,
    site: index === 0 ? 0 : random.below(sites.length),
    odd: odd[name] ?? usual,
  }));
}

/** `true` where the two cannot reach each other, though others reach both. */
export function areCut(a: Part, b: Part): boolean {
  return [a.name, b.name].sort().join() === 'vole,wren';
}

/** The round trip between two machines at a moment: steady, with waves of its own, and now and then a peak. */
export function roundTripMs(from: Part, to: Part, at: number): number {
  const base = betweenSitesMs[from.site]?.[to.site] ?? 1;
  const own = (from.id.charCodeAt(3) * 7 + to.id.charCodeAt(3) * 13) % 100;
  const wave = Math.sin(at / (4 * minuteMs) + own) * 0.12 + Math.sin(at / 37_000 + own * 3) * 0.06;
  const peak = Math.sin(at / (17 * minuteMs) + own) > 0.985 ? 1.6 : 1;
  return base * (1.1 + own / 200 + wave) * peak;
}

/** What the asked member knows of each, at a moment. */
export function reports(parts: readonly Part[], begunAt: number, at: number): MemberReport[] {
  const [asked] = parts;
  const all = parts.map((part, index): MemberReport => {
    const enabledAt = begunAt - 40 * 24 * hourMs + index * 7 * hourMs;
    return {
      id: part.id,
      name: part.name,
      self: part === asked,
      state: 'active',
      stateSince: enabledAt,
      connected: true,
      rttMs: null,
      behind: 0,
      behindSeconds: 0,
      addresses: [`${part.name}.${sites[part.site]}.example.net:4700`],
      software: index % 9 === 4 ? '0.0.9' : '0.1.0',
      enabledAt,
      lastSeenAt: at - 300,
      pending: 0,
      problems: 0,
      files: 48_213,
      bytes: 214_310_000_000,
      freeBytes: 40e9 + index * 17.3e9,
      load: 0.02,
      queuedBytes: 0,
      sentBytes: 4_096 * index,
      receivedBytes: 1_024 * index,
      ...part.odd(begunAt),
    };
  });
  return all.map((report, row) => ({ ...report, ...reachOf(parts, all, row, at) }));
}

function reachOf(parts: readonly Part[], all: readonly MemberReport[], row: number, at: number): Partial<MemberReport> {
  const [from, report, asked] = [parts[row], all[row], parts[0]];
  if (from === undefined || asked === undefined || report?.connected !== true) return {};
  const latenciesMs: Record<string, number> = {};
  for (const [column, to] of parts.entries()) {
    if (column !== row && all[column]?.connected === true && !areCut(from, to)) {
      latenciesMs[to.id] = roundTripMs(from, to, at);
    }
  }
  const rttMs = row === 0 ? null : roundTripMs(asked, from, at);
  if (from.name !== 'koi') return { latenciesMs, rttMs };
  const done = Math.floor((at / 40) % 118_000);
  return { latenciesMs, rttMs, behind: 118_000 - done, catchUp: { source: asked.id, done, total: 118_000 } };
}
