import type { ContentId, MemberId } from '@lockstep/shared';
import { RateMeter } from '../../core/traffic/rate-meter.ts';
import type { Peer } from '../members/peer.ts';
import type { Context } from '../state/context.ts';

/** A content that another member requested, and the path that it wants it for. */
export interface SentFile {
  readonly content: ContentId;
  readonly path: string;
  readonly size: number;
}

/** A file on its way to another member, for people. */
export interface Departure {
  readonly path: string;
  readonly content: ContentId;
  readonly to: MemberId;
  readonly size: number;
  /** Bytes handed to the session. */
  readonly sentBytes: number;
  readonly bytesPerSecond: number;
  /** The time since a part of it was handed to the session. */
  readonly quietMs: number;
  readonly startedMs: number;
}

interface Leaving {
  readonly file: SentFile;
  readonly meter: RateMeter;
  readonly startedMs: number;
}

/** The most files remembered for each member; the one that was sent first is dropped for another. */
const filesMax = 64;
/** A file of which nothing was requested for this long is not on its way any more: the member asks another one, or has it. */
const quietMsMax = 60_000;
/** A file of which all was sent is listed this long: the last block is still on the line. */
const doneMsMax = 2_000;

/** The outgoing transfers of this member: the files that others request, and the rate to each member. */
export class Departures {
  readonly #context: Context;
  readonly #leaving = new Map<Peer, Map<ContentId, Leaving>>();

  constructor(context: Context) {
    this.#context = context;
    context.facts.second.on(() => this.#forget());
  }

  /** Notes that a block was handed to the session. */
  sent(peer: Peer, file: SentFile, bytes: number): void {
    const nowMs = this.#context.clock.monotonicMs();
    const files = this.#leaving.get(peer) ?? new Map<ContentId, Leaving>();
    this.#leaving.set(peer, files);
    const leaving = files.get(file.content) ?? { file, meter: new RateMeter(), startedMs: nowMs };
    leaving.meter.add(bytes, nowMs);
    files.set(file.content, leaving);
    const [first] = files.keys();
    if (files.size > filesMax && first !== undefined) files.delete(first);
  }

  /** The files on their way to other members, without those of which a member needs no more: the rest came from others. */
  list(isDelivered: (peer: Peer, file: Departure) => boolean): readonly Departure[] {
    const nowMs = this.#context.clock.monotonicMs();
    return [...this.#leaving].flatMap(([peer, files]) =>
      [...files.values()]
        .map(({ file, meter, startedMs }) => ({
          ...file,
          to: peer.id,
          sentBytes: Math.min(file.size, meter.total),
          bytesPerSecond: meter.total < file.size ? meter.pace(nowMs, startedMs) : meter.perSecond(nowMs),
          quietMs: nowMs - (meter.lastMs ?? nowMs),
          startedMs,
        }))
        .filter((file) => !isDelivered(peer, file)),
    );
  }

  /** Bytes of contents that leave for the member per second; 0 if none do. On a slow line a block counts while it is on the way. */
  perSecond(peer: Peer): number {
    const nowMs = this.#context.clock.monotonicMs();
    const [since] = [...(this.#leaving.get(peer)?.values() ?? [])].map(({ startedMs }) => startedMs);
    return since === undefined ? peer.sent.perSecond(nowMs) : peer.sent.pace(nowMs, since);
  }

  #forget(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const [peer, files] of this.#leaving) {
      for (const [content, { file, meter }] of files) {
        const quietMs = nowMs - (meter.lastMs ?? nowMs);
        if (quietMs > (meter.total < file.size ? quietMsMax : doneMsMax)) files.delete(content);
      }
      if (files.size === 0 || !peer.ready) this.#leaving.delete(peer);
    }
  }
}
