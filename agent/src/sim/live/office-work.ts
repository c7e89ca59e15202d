import { Random } from '../base/random.ts';
import { virtualContent } from '../disk/content.ts';
import type { LiveCluster } from './live-cluster.ts';
import { write } from './office.ts';

const folders = ['Bridge/Drawings', 'Letters', 'Minutes', 'Plans/Quay wall/Section B'];
const files = ['survey', 'notes', 'site plan', 'north elevation', 'minutes', 'estimate', 'crane hire'];
const endings = ['md', 'dwg', 'ods', 'csv', 'pdf'];

/** Interval of new films, and their size: each needs about a minute on the line of its machine, so that one is on its way most of the time. */
const filmEveryMs = 90_000;
const filmBytes = 16_000_000;

/** The clock of seal is wrong at intervals, until it is corrected: for nearly half of the time, so that a viewer does not wait long for it. */
const sealEveryMs = 75_000;
const sealWrongMs = 30_000;
const sealAheadMs = 92_000;

/** The connection of swan fails at intervals: long enough for it to be suspected, too short for it to be down. */
const swanEveryMs = 20_000;
const swanSilentMs = 6_000;

/** The users of all running members make changes on their own machines, `perSecond` in all. */
export function startWork(cluster: LiveCluster, perSecond: number): void {
  const { scheduler } = cluster;
  const repeat = (everyMs: number, what: () => void): void => {
    what();
    scheduler.after(everyMs, () => repeat(everyMs, what));
  };
  repeat(1_000 / perSecond, changeOne(cluster));
  repeat(filmEveryMs, cutFilm(cluster));
  const { id } = cluster.machine('swan');
  const others = cluster.machines.filter((other) => other.id !== id);
  repeat(swanEveryMs, () => {
    for (const other of others) cluster.medium.cut(id, other.id, 'silent');
    scheduler.after(swanSilentMs, () => {
      for (const other of others) cluster.medium.heal(id, other.id);
    });
  });
  const { wall } = cluster.machine('seal');
  repeat(sealEveryMs, () => {
    wall.step(sealAheadMs);
    scheduler.after(sealWrongMs, () => {
      wall.step(-sealAheadMs);
    });
  });
}

/** Changes a file on a random machine, as its user. */
function changeOne(cluster: LiveCluster): () => void {
  const random = new Random(2_000);
  let changes = 0;
  return () => {
    const present = cluster.machines.filter(({ engine }) => engine?.lifecycle.state === 'active' && !engine.pause.isOn);
    const { name, volume } = random.pick(present);
    const path = `${random.pick(folders)}/${random.pick(files)} ${random.below(90)}.${random.pick(endings)}`;
    changes += 1;
    if (volume.disk.at(path) !== undefined && random.chance(0.2)) cluster.user(name).remove(path);
    else write(cluster, name, path, `change ${changes}\n`);
  };
}

function cutFilm(cluster: LiveCluster): () => void {
  const newt = cluster.user('newt');
  let films = 0;
  return () => {
    films += 1;
    const path = `Flight over the quay ${films}.mov`;
    newt.write(path, path, virtualContent(path, filmBytes));
  };
}
