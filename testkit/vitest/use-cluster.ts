import { afterAll, beforeAll, beforeEach, onTestFailed, onTestFinished } from 'vitest';
import { Cluster, type ClusterOptions } from '../cluster.ts';

/** Starts a cluster for the current test. It is ended and removed after the test, however that ends. */
export async function startCluster(names: readonly string[], options?: ClusterOptions): Promise<Cluster> {
  const cluster = await Cluster.start(names, options);
  onTestFinished(() => cluster.close());
  onTestFailed(() => cluster.printLogs());
  return cluster;
}

/** Starts one cluster for all tests of a file; each test works in a separate directory. Returns a function that gets the cluster. */
export function useCluster(names: readonly string[], options?: ClusterOptions): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await Cluster.start(names, options);
  });
  afterAll(() => cluster?.close());
  beforeEach((context) => context.onTestFailed(() => cluster?.printLogs()));
  return () => {
    if (cluster === undefined) throw new Error('The cluster exists only during tests');
    return cluster;
  };
}
