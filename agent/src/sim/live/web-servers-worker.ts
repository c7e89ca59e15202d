import { parentPort, workerData } from 'node:worker_threads';
import { runWebServers, type WebServersOptions } from './web-servers.ts';

/** A thread for one run of web servers. */
parentPort?.postMessage(await runWebServers(workerData as WebServersOptions));
