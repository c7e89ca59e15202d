import { retire } from '../../sync/lifecycle/membership-change.ts';
import { Random } from '../base/random.ts';
import { contentOfText } from '../disk/content.ts';
import type { NetworkConduct } from '../network/sim-network.ts';
import { Uplink } from '../network/uplink.ts';
import type { Machine } from '../world/machine.ts';
import { LiveCluster } from './live-cluster.ts';

const goodbyeMs = 2_000;

/** The machines of the office. The page asks the first one. */
const cast: readonly string[] =
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

/** The initial entries of the folder. */
const tree: readonly string[] = [
  ...['north elevation', 'quay', 'section A', 'section B', 'site plan'].map((name) => `Bridge/Drawings/${name}.dwg`),
  'Bridge/Estimate of the quay wall, third version, with the comments of the office.pdf',
  'Bridge/survey.csv',
  'Budget 2027.md',
  'Letters/to the harbour office.md',
  'Letters/to the surveyor.md',
  'Minutes/2026-11-05.md',
  'Minutes/2026-11-19.md',
  ...Array.from({ length: 60 }, (_, index) => `Photos 2026/IMG_${4_201 + index}.jpg`),
  'Read me first.md',
];

/** Two users change each of these at the same time. */
const disputed = ['Budget 2027.md', 'Letters/to the harbour office.md', 'Minutes/2026-11-19.md'];

const minutes = (decision: string): string => `# Minutes of Thursday

1. The plan for the quay was gone through.
2. ${decision}
3. The survey of the bridge is due on Friday.
`;

/** Joins last, and needs minutes to catch up over its slow line. */
const newcomer = 'koi';

/**
 * Fifty members of an office, with every state that a page can show: paused, stopped, cut off, powered off, full, new, or retired.
 * Simulated time has run at full speed.
 */
export async function openOffice(failed: (what: string) => void): Promise<LiveCluster> {
  const cluster = new LiveCluster({ names: cast, network: networkBetween, uplink: uplinkOf, failed });
  const ant = cluster.machine('ant');
  for (const path of tree) write(cluster, 'ant', path, minutes(`This is ${path}.`));
  ant.start();
  await cluster.until(() => ant.engine?.lifecycle.state === 'active');
  const others = cluster.machines.filter(({ name }) => name !== newcomer);
  for (const machine of others) machine.start();
  await untilSame(cluster, others);
  for (const [index, path] of disputed.entries()) {
    write(cluster, others[index + 1]?.name ?? '', path, minutes('It begins in May; the crane is not free before.'));
    write(cluster, others[index + 20]?.name ?? '', path, minutes('It begins in April, after the storms.'));
  }
  await cluster.until(() => ant.journal.conflictCopies.count() === disputed.length);
  await untilSame(cluster, others);
  await bringMishaps(cluster);
  cluster.machine(newcomer).start();
  return cluster;
}

/** Writes a text to a file on that machine, as its user. */
export function write(cluster: LiveCluster, name: string, path: string, text: string): void {
  const user = cluster.user(name);
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (parent !== '') user.makeDirectories(parent);
  user.write(path, text, contentOfText(text));
}

/** Resolves when all of these have the same operations and sessions with each other. */
function untilSame(cluster: LiveCluster, machines: readonly Machine[]): Promise<void> {
  return cluster.until(() => {
    const [first] = machines;
    return machines.every(
      ({ journal, engine }) =>
        engine?.lifecycle.state === 'active' &&
        engine.peers.ready().length >= machines.length - 1 &&
        journal.totals.counts().pending + journal.totals.counts().contested === 0 &&
        journal.totals.digest() === first?.journal.totals.digest(),
    );
  });
}

async function bringMishaps(cluster: LiveCluster): Promise<void> {
  const machine = (name: string): Machine => cluster.machine(name);
  const yeti = machine('yeti');
  const isRetired = yeti.engine && retire(yeti.engine, goodbyeMs);
  await cluster.until(() => machine('ant').engine?.peers.get(yeti.id)?.state === 'left');
  await isRetired;
  yeti.stop();
  machine('tern').stop();
  machine('owl').crash(false);
  machine('mole').engine?.pause.pause();
  machine('ram').volume.full = 'disk';
  cluster.medium.cut(machine('vole').id, machine('wren').id, 'refused');
  // Only files, directories and links are replicated.
  cluster.user('ant').mkfifo('Letters/printer');
  const isDown = (name: string): boolean => machine('ant').engine?.peers.get(machine(name).id)?.state === 'down';
  await cluster.until(() => ['mole', 'owl', 'tern'].every(isDown));
}

/** The network between two machines. */
function networkBetween(a: string, b: string): NetworkConduct {
  const delayMsMin = betweenSitesMs[siteOf.get(a) ?? 0]?.[siteOf.get(b) ?? 0] ?? 1;
  const bytesPerMs = Math.min(thinLines[a] ?? 100_000, thinLines[b] ?? 100_000);
  return { delayMsMin, delayMsMax: delayMsMin / 2, bytesPerMs };
}

/** The line on which that machine sends to all others, if it has a slow one. */
function uplinkOf(name: string): Uplink | undefined {
  return thinUplinks.get(name);
}
