import { Random } from '../base/random.ts';
import type { NetworkConduct } from '../network/sim-network.ts';
import { Uplink } from '../network/uplink.ts';

/** The machines of the office. The page asks the first one. */
export const cast: readonly string[] =
  'ant asp bee boar büro-süd cat crow deer dog eel elk finch fox gnu goat hare hen ibis iguana jackal jay kite koi lark lynx mink mole narwhal newt ocelot owl pig pike quail ram rook seal swan tern toad urial vole wasp workshop-laptop-of-the-harbour-office wren xerus yak yeti zebu zorilla'.split(
    ' ',
  );

/** The latency between sites, one way: short within one site, and as long as an ocean cable between two. */
const betweenSitesMs = [
  [0.2, 24, 114],
  [24, 0.2, 131],
  [114, 131, 0.2],
] as const;

/** Machines with a slow line, and the bytes that each of its sessions carries per millisecond. */
const thinLines: Readonly<Record<string, number>> = { koi: 0.6 };

/** Machines whose sessions all send on one slow line. */
const thinUplinks: ReadonlyMap<string, Uplink> = new Map([['newt', new Uplink(256)]]);

const random = new Random(50);
const siteOf = new Map(cast.map((name, index) => [name, index === 0 ? 0 : random.below(betweenSitesMs.length)]));

/** The network between two machines. */
export function networkBetween(a: string, b: string): NetworkConduct {
  const delayMsMin = betweenSitesMs[siteOf.get(a) ?? 0]?.[siteOf.get(b) ?? 0] ?? 1;
  const bytesPerMs = Math.min(thinLines[a] ?? 100_000, thinLines[b] ?? 100_000);
  return { delayMsMin, delayMsMax: delayMsMin / 2, bytesPerMs };
}

/** The line on which that machine sends to all others, if it has a slow one. */
export function uplinkOf(name: string): Uplink | undefined {
  return thinUplinks.get(name);
}
