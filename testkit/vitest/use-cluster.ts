import { afterAll, beforeAll, beforeEach, onTestFailed, onTestFinished } from 'vitest';
import { Cluster, type ClusterOptions } from '../cluster.ts';

/** Starts a cluster for the test that runs now. It is ended and removed after the test, however that ends. */
export async function startCluster(names: readonly string[], options?: ClusterOptions): Promise<Cluster> {
  const cluster = await Cluster.start(names, options);
  onTestFinished(() => cluster.close());
  onTestFailed(() => cluster.printLogs());
  return cluster;
}

/** One cluster for all tests of a file; each of them works in a directory of its own. Answers how to get it in a test. */
export function useCluster(names: readonly string[], options?: ClusterOptions): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await Cluster.start(names, options);
  });
  afterAll(() => cluster?.close());
  beforeEach((context) => context.onTestFailed(() => cluster?.printLogs()));
  return () => {
    if (cluster === undefined) throw new Error('The cluster is there in tests only');
    return cluster;
  };
}
