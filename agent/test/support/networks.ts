import {
  blockBytes,
  type ContentId,
  inlineBytesMax,
  operationsFrameBytesTarget,
  originId,
  type PeerMessage,
} from '@lockstep/shared';
import { afterEach, vi } from 'vitest';
import { formatAddress } from '../../src/net/address.ts';
import { createClusterKey } from '../../src/net/keys/cluster-key.ts';
import { createIdentity, type Identity } from '../../src/net/keys/identity.ts';
import { type NetworkOptions, openNetwork } from '../../src/net/network.ts';
import type { Log } from '../../src/sync/ports/log.ts';
import type { Link } from '../../src/sync/ports/network.ts';

/** A log that drops everything. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The key of the cluster that the test networks are members of. */
export const clusterKey = createClusterKey();
/** Two of its members. */
export const [ant, bee] = await Promise.all([createIdentity(), createIdentity()]);

/** Waits until `check` does not throw: long enough for a machine that is busy with other tests. */
export function until<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, 20_000);
}

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Calls `close` when the test has ended. */
export function afterTest(close: () => Promise<void> | void): void {
  closing.push(close);
}

/** A network on a free port of the loopback interface, and its callbacks. It is closed when the test has ended. */
export async function openTestNetwork(identity: Identity, options: Partial<NetworkOptions> = {}) {
  const network = await openNetwork({
    identity,
    clusterKey,
    listen: { host: '127.0.0.1', port: 0 },
    log: silentLog,
    ...options,
  });
  afterTest(() => network.close());
  const links: Link[] = [];
  const refusals: string[] = [];
  network.onLink((link) => links.push(link));
  network.onRefused((_remote, reason) => refusals.push(reason));
  return { network, links, refusals, address: formatAddress(network.address) };
}

/** The first session that another network opened with that of `links`. */
export function firstOf(links: readonly Link[]): Promise<Link> {
  return until(() => {
    const [link] = links;
    if (link === undefined) throw new Error('no session yet');
    return link;
  });
}

/** A session between two networks. */
export async function openPair(options: Partial<NetworkOptions> = {}) {
  const a = await openTestNetwork(ant, options);
  const b = await openTestNetwork(bee);
  const dialled = await a.network.dial(b.address);
  return { a, b, dialled, accepted: await firstOf(b.links) };
}

export interface Received {
  readonly messages: PeerMessage[];
  readonly ends: string[];
}

/** Starts `link`; the result collects what it receives. */
export function receive(link: Link): Received {
  const received: Received = { messages: [], ends: [] };
  link.start({
    message: (message) => received.messages.push(message),
    closed: (reason) => received.ends.push(reason),
  });
  return received;
}

/** A frame of operations of the intended size; `id` distinguishes it from others. */
export function operationsOf(id: number): PeerMessage {
  const [origin, bytes] = [originId(ant.memberId, 'aaaaaaaa'), new Uint8Array(inlineBytesMax)];
  const content = `b3:${'0'.repeat(64)}` as ContentId;
  const file = { kind: 'put', content, size: bytes.length, mode: 0o644, mtimeUs: 0 } as const;
  const carried = Array.from({ length: operationsFrameBytesTarget / inlineBytesMax }, (_, index) => {
    const seq = index + 1;
    return {
      operation: { origin, seq, hlc: seq, path: `f${seq}`, version: { vector: { [origin]: seq } }, ...file },
      bytes,
    };
  });
  return { type: 'operations', id, carried };
}

/** A full-size block; `id` distinguishes it from others. */
export function blockOf(id: number): PeerMessage {
  return { type: 'block', id, bytes: new Uint8Array(blockBytes).fill(id) };
}
