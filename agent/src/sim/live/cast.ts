import { Random } from '../base/random.ts';
import type { NetworkConduct } from '../network/sim-network.ts';

/** The machines of the office. The first is the one that a page asks. */
export const cast: readonly string[] =
  'ant asp bee boar büro-süd cat crow deer dog eel elk finch fox gnu goat hare hen ibis iguana jackal jay kite koi lark lynx mink mole narwhal newt ocelot owl pig pike quail ram rook seal swan tern toad urial vole wasp workshop-laptop-of-the-harbour-office wren xerus yak yeti zebu zorilla'.split(
    ' ',
  );

/** One way between sites: short within one, and between two as far as the ocean is wide. */
const betweenSitesMs = [
  [0.2, 24, 114],
  [24, 0.2, 131],
  [114, 131, 0.2],
] as const;

/** Machines at the end of a thin line, and how many bytes it carries in a millisecond. */
const thinLines: Readonly<Record<string, number>> = { koi: 0.6, newt: 256 };

const random = new Random(50);
const siteOf = new Map(cast.map((name, index) => [name, index === 0 ? 0 : random.below(betweenSitesMs.length)]));

/** How the network behaves between two machines. */
export function networkBetween(a: string, b: string): NetworkConduct {
  const delayMsMin = betweenSitesMs[siteOf.get(a) ?? 0]?.[siteOf.get(b) ?? 0] ?? 1;
  const bytesPerMs = Math.min(thinLines[a] ?? 100_000, thinLines[b] ?? 100_000);
  return { delayMsMin, delayMsMax: delayMsMin / 2, bytesPerMs };
}
