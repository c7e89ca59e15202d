import { retire } from '../../sync/lifecycle/announce.ts';
import { contentOfText } from '../disk/content.ts';
import type { Machine } from '../world/machine.ts';
import { cast, networkBetween, uplinkOf } from './cast.ts';
import { LiveCluster } from './live-cluster.ts';

const goodbyeMs = 2_000;

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
