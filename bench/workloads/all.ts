import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import { startOthers } from '../others/start.ts';
import type { Result } from '../result.ts';
import { workerNumbers } from '../worker-numbers.ts';
import { acknowledged } from './acknowledged.ts';
import { largeFile, manyFiles, type Place, realTree, smallFiles } from './bulk.ts';
import { compression } from './compression.ts';
import { copiesThroughMount } from './copies.ts';
import { smallChanges } from './delta.ts';
import { largeEdits } from './edits.ts';
import { fioPasses } from './fio.ts';
import { firstOpens } from './first-opens.ts';
import { fullLine } from './full-line.ts';
import { growing } from './growing.ts';
import { hugeFiles } from './huge.ts';
import { idle } from './idle.ts';
import { besideLarge, latency } from './latency.ts';
import { mountShare } from './mount-share.ts';
import { newcomer } from './newcomer.ts';
import { openClose } from './open-close.ts';
import { page } from './page.ts';
import { severalSources } from './several.ts';
import { simulatedWebServers } from './simulated-web-servers.ts';
import { assertSame, type Trio } from './through.ts';
import { webServers } from './web-server.ts';

/** The directories to which a workload may write. */
interface Ground {
  /** For the folders of members. */
  readonly root: string;
  readonly scratch: string;
  readonly repetitions: number;
}

type Workload = (ground: Ground) => Promise<readonly Result[]>;

/** Runs a workload on three members, then compares their folders. */
function onThree(
  work: (place: Place, cluster: Cluster) => Promise<readonly Result[]>,
  { proxied = false, besideOthers = false } = {},
): Workload {
  return async ({ root, scratch, repetitions }) => {
    const cluster = await Cluster.start(['ant', 'bee', 'cat'], { directory: root, proxied });
    const others = besideOthers ? await startOthers(root) : [];
    try {
      const members = cluster.members as readonly Member[] as Trio;
      const results = await work({ members, others, scratch, repetitions }, cluster);
      await assertSame(cluster.running);
      return results;
    } finally {
      for (const other of others) await other.close();
      await cluster.close();
    }
  };
}

const besideOthers = { besideOthers: true };

/** The workloads by name, in the order in which all are run. */
export const workloads: Readonly<Record<string, Workload>> = {
  latency: onThree(latency, besideOthers),
  small: onThree(smallFiles, besideOthers),
  many: onThree(manyFiles, besideOthers),
  tree: onThree(realTree, besideOthers),
  large: onThree(largeFile, besideOthers),
  edits: onThree(largeEdits, besideOthers),
  delta: onThree(smallChanges, besideOthers),
  growing: onThree(growing),
  'beside-large': onThree(besideLarge),
  newcomer: onThree(async (place, cluster) => [
    await newcomer(cluster, place.members, place.scratch, place.repetitions),
  ]),
  several: ({ root, scratch, repetitions }) => severalSources(root, scratch, repetitions),
  'full-line': onThree(({ members }, cluster) => fullLine(cluster, members), { proxied: true }),
  compression: ({ root, repetitions }) => compression(root, repetitions),
  acknowledged: ({ root }) => acknowledged(root),
  fio: ({ root }) => fioPasses(root),
  copies: ({ root, scratch }) => copiesThroughMount(root, scratch),
  'open-close': onThree(({ members, scratch }) => openClose(members, scratch)),
  'first-opens': ({ root, scratch }) => firstOpens(root, scratch),
  mount: onThree(({ members, scratch }) => mountShare(members, scratch)),
  idle: onThree(({ members }) => idle(members)),
  'web-servers': ({ root }) => webServers(root),
  page: ({ scratch }) => page(scratch),
};

/** Workloads that take long: they run only if they are named. */
export const longWorkloads: Readonly<Record<string, Workload>> = {
  huge: onThree(({ members }) => hugeFiles(members)),
  'web-servers-64': simulatedWebServers,
  workers: ({ root, scratch, repetitions }) => workerNumbers(root, scratch, repetitions),
};
