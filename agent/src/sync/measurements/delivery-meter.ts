import type { Operation } from '@lockstep/shared';
import { holds } from '../../core/durability.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** Number of paths of a burst that are remembered, so that a file that was written twice counts once. */
const rememberedMax = 10_000;
/** A burst that lasts longer is reported in parts: in some folders a file changes without end. */
const burstMsMax = 60_000;

/** A burst of local changes, and the time until the connected members held all of it. */
export interface Delivered {
  readonly operations: number;
  /** Number of distinct files written. */
  readonly files: number;
  readonly deletes: number;
  readonly bytes: number;
  /** The first path of the burst. */
  readonly path: string;
  readonly ms: number;
  readonly members: number;
}

interface Burst {
  readonly startMs: number;
  readonly path: string;
  readonly written: Set<string>;
  operations: number;
  files: number;
  deletes: number;
  bytes: number;
  last: Operation;
  /** When the connected members were first seen to hold the last operation. */
  heldMs: number | undefined;
}

/** Measures the time from the first change of a burst until all connected members hold the last one. */
export class DeliveryMeter {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #isBusy: () => boolean;
  #burst: Burst | undefined;

  /** `isBusy` returns true while more changes are about to be journaled. */
  constructor(context: Context, peers: Peers, isBusy: () => boolean) {
    this.#context = context;
    this.#peers = peers;
    this.#isBusy = isBusy;
    context.facts.made.on((operations) => this.#made(operations));
    context.facts.acknowledged.on(() => this.#report());
    // Of a burst that goes on no longer there may be no further acknowledgement.
    context.facts.second.on(() => this.#report());
  }

  #made(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (operation.kind === 'member') continue;
      this.#burst ??= {
        startMs: this.#context.clock.monotonicMs(),
        path: operation.path,
        written: new Set(),
        operations: 0,
        files: 0,
        deletes: 0,
        bytes: 0,
        last: operation,
        heldMs: undefined,
      };
      const burst = this.#burst;
      burst.operations++;
      if (operation.kind === 'put') {
        if (!burst.written.has(operation.path)) burst.files++;
        if (burst.written.size < rememberedMax) burst.written.add(operation.path);
        burst.bytes += operation.size ?? 0;
      } else if (operation.kind === 'delete') burst.deletes++;
      burst.last = operation;
      burst.heldMs = undefined;
    }
  }

  /** Reports the burst if the connected members hold it, and it is over or long. */
  #report(): void {
    const burst = this.#burst;
    const peers = this.#peers.ready();
    if (burst === undefined || peers.length === 0) return;
    if (!peers.every((peer) => holds(peer.applied, burst.last))) return;
    burst.heldMs ??= this.#context.clock.monotonicMs();
    if (this.#isBusy() && burst.heldMs - burst.startMs < burstMsMax) return;
    this.#burst = undefined;
    const { operations, files, deletes, bytes, path, startMs, heldMs } = burst;
    const ms = heldMs - startMs;
    const delivered: Delivered = { operations, files, deletes, bytes, path, ms, members: peers.length };
    this.#context.events.add('delivered', { ...delivered });
  }
}
