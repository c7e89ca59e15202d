import { DeliveryRate } from '../../core/traffic/delivery-rate.ts';
import type { Peer } from '../members/peer.ts';

/** A source that sent nothing for this long, and for some round trips, although it was asked, has stalled: others are asked. */
const stalledAfterMs = 1_000;
const stalledAfterRoundTrips = 3;

interface Source {
  readonly rate: DeliveryRate;
  /** Bytes that had come over its link, in the session with this number. */
  linkBytes: number;
  session: number;
  /** Bytes of the block that is coming. */
  partialBytes: number;
}

/** The rates at which members send what is requested from them, also while one block is on its way. */
export class SourceRates {
  readonly #sources = new Map<Peer, Source>();

  bytesPerMs(peer: Peer): number | undefined {
    return this.#sources.get(peer)?.rate.bytesPerMs;
  }

  /** Bytes that came of the block that was requested first. */
  partialBytes(peer: Peer): number {
    return this.#sources.get(peer)?.partialBytes ?? 0;
  }

  isStalled(peer: Peer, nowMs: number): boolean {
    const silentMs = this.#sources.get(peer)?.rate.silentMs(nowMs) ?? 0;
    return silentMs > stalledAfterMs + stalledAfterRoundTrips * (peer.rttMs ?? 0);
  }

  asked(peer: Peer, nowMs: number): void {
    const source = this.#sources.get(peer) ?? { rate: new DeliveryRate(), linkBytes: 0, session: 0, partialBytes: 0 };
    this.#sources.set(peer, source);
    this.#read(peer, source, nowMs, false);
    source.rate.asked(nowMs, peer.rttMs ?? 0);
  }

  /** A requested block came. `isLast`: nothing more is requested from the member. */
  came(peer: Peer, nowMs: number, isLast: boolean): void {
    const source = this.#sources.get(peer);
    if (source === undefined) return;
    this.#read(peer, source, nowMs, isLast);
    source.partialBytes = 0;
  }

  /** Notes what has come of blocks that are on their way. Must be called regularly. `lateMs`: how late this call is. */
  tick(nowMs: number, lateMs: number): void {
    for (const [peer, source] of this.#sources) {
      if (lateMs > 0) source.rate.skip(lateMs);
      this.#read(peer, source, nowMs, false);
    }
  }

  /** Nothing more is requested from the member, or its session ended. */
  ended(peer: Peer, nowMs: number): void {
    const source = this.#sources.get(peer);
    source?.rate.came(0, nowMs, true);
    if (source !== undefined) source.partialBytes = 0;
  }

  #read(peer: Peer, source: Source, nowMs: number, isIdle: boolean): void {
    const linkBytes = peer.link?.receivedBytes() ?? 0;
    const bytes = source.session === peer.sessions ? Math.max(0, linkBytes - source.linkBytes) : 0;
    source.session = peer.sessions;
    source.linkBytes = linkBytes;
    source.partialBytes += bytes;
    source.rate.came(bytes, nowMs, isIdle);
  }
}
