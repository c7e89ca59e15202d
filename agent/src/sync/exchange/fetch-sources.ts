import { blockBytes, type MemberId, memberOf, type Operation } from '@lockstep/shared';
import { blockCount } from '../../core/blocks.ts';
import { holds } from '../../core/durability.ts';
import { chooseSource } from '../../core/traffic/choose-source.ts';
import { nextRequest } from '../../core/traffic/share-blocks.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { BlockRequest, BlockRequests } from './block-requests.ts';
import type { Share } from './block-todo.ts';
import { type Fetch, type FetchSource, fetchSize } from './fetch.ts';
import type { Offers } from './offers.ts';
import type { SourceRates } from './source-rates.ts';

/** The state of the sources of all fetches. */
interface ExchangeState {
  readonly offers: Offers;
  readonly requests: BlockRequests<Fetch>;
  readonly rates: SourceRates;
}

type NextRequest = Pick<BlockRequest<Fetch>, 'peer' | 'index' | 'isOffered'>;

/** The members from which the content of a fetch can be requested, and the next request to one of them. */
export class FetchSources {
  readonly #context: Pick<Context, 'clock' | 'self'>;
  readonly #peers: Peers;
  readonly #state: ExchangeState;

  constructor(context: Pick<Context, 'clock' | 'self'>, peers: Peers, state: ExchangeState) {
    this.#context = context;
    this.#peers = peers;
    this.#state = state;
  }

  /** The next request for a block of the content to a member that `mayAsk` admits; undefined if there is none to make now. */
  next(fetch: Fetch, mayAsk: (peer: Peer) => boolean): NextRequest | undefined {
    return fetchSize(fetch.size) === 'large' ? this.#nextOfLarge(fetch, mayAsk) : this.#nextOfSmall(fetch, mayAsk);
  }

  /** False if no member is left that may have more of the content, and no block of it is to come. */
  isLeft(fetch: Fetch): boolean {
    return (
      this.#maySend(fetch) ||
      this.#state.requests.all().some((open) => open.fetch === fetch && !fetch.todo.isHere(open.index))
    );
  }

  /** True if a member can be asked for more of the content. */
  #maySend(fetch: Fetch): boolean {
    if (fetchSize(fetch.size) === 'small') {
      fetch.source ??= this.choose(fetch);
      return fetch.source !== undefined;
    }
    const mayHave = ({ hasAll, offer }: FetchSource): boolean =>
      hasAll || (offer !== undefined && fetch.todo.nextOf(offer) !== undefined);
    return this.of(fetch).some(mayHave);
  }

  /** All members that have a large content, and those that fetch it as well. If none has it, one that may. */
  of(fetch: Fetch): readonly FetchSource[] {
    if (fetch.sources !== undefined) return fetch.sources;
    const { operation, tried, content } = fetch;
    const sources = this.#peers.ready().map((peer): FetchSource => {
      const isOrigin = peer.id === memberOf(operation.origin) && !lacks(peer, fetch);
      return {
        peer,
        hasAll: (isOrigin || isHolder(peer, fetch)) && !tried.has(peer.id),
        isGuess: false,
        offer: this.#state.offers.of(peer, content),
      };
    });
    const guess = sources.some(({ hasAll }) => hasAll) ? undefined : this.choose(fetch);
    fetch.sources = sources
      .map((source) => (source.peer === guess ? { ...source, hasAll: true, isGuess: true } : source))
      .filter(({ hasAll, offer }) => hasAll || offer !== undefined);
    return fetch.sources;
  }

  /** The part of the content that this member fetches first: the others that lack it begin with other parts. */
  shareOf(operation: Operation): Share {
    const { id } = this.#context.self;
    // Members on demand fetch it only if it is read.
    const lacking = this.#peers.ready().filter((peer) => {
      const { applied, origin } = peer;
      return origin !== operation.origin && !holds(applied, operation) && !this.#peers.isOnDemand(peer.id);
    });
    const ids = [id, ...lacking.map((peer) => peer.id)].sort();
    return { place: ids.indexOf(id), members: ids.length, ids };
  }

  /** The member to ask, of those that were not tried. */
  choose(fetch: Fetch): Peer | undefined {
    const nowMs = this.#context.clock.monotonicMs();
    const candidates = this.#peers
      .ready()
      .filter((peer) => !fetch.tried.has(peer.id))
      .map((peer) => ({
        peer,
        isOrigin: peer.id === memberOf(fetch.operation.origin),
        isHolder: isHolder(peer, fetch),
        lacks: lacks(peer, fetch),
        roundTripMs: peer.rttMs ?? 0,
        requestedBytes: this.#state.requests.requestedBytes(peer),
        bytesPerSecond: peer.received.perSecond(nowMs),
      }));
    return chooseSource(candidates)?.peer;
  }

  #nextOfSmall(fetch: Fetch, mayAsk: (peer: Peer) => boolean): NextRequest | undefined {
    fetch.source ??= this.choose(fetch);
    const { source } = fetch;
    if (source === undefined || !this.#state.requests.hasPlace(fetch, source) || !mayAsk(source)) return undefined;
    const index = fetch.todo.next();
    return index === undefined ? undefined : { peer: source, index, isOffered: false };
  }

  #nextOfLarge(fetch: Fetch, mayAsk: (peer: Peer) => boolean): NextRequest | undefined {
    const { size, todo } = fetch;
    const nowMs = this.#context.clock.monotonicMs();
    const known = this.of(fetch);
    const isOffered = (index: number): boolean => known.some(({ hasAll, offer }) => !hasAll && offer?.has(index));
    const nextOf = ({ hasAll, offer }: FetchSource): number | undefined =>
      hasAll ? todo.next(isOffered) : offer && todo.nextOf(offer);
    const sources = known
      .map((source) => ({ ...source, next: nextOf(source) }))
      .map(({ peer, hasAll, isGuess, offer, next }) => ({
        peer,
        hasAll,
        isGuess,
        offer,
        next,
        isNextOffered: next !== undefined && isOffered(next),
        roundTripMs: peer.rttMs ?? 0,
        bytesPerMs: this.#state.rates.bytesPerMs(peer),
        requests: this.#state.requests.inFlight(peer),
        requestedBytes: this.#state.requests.requestedBytes(peer),
        isStalled: this.#state.rates.isStalled(peer, nowMs),
      }));
    const pending = this.#state.requests.pending(fetch).flatMap(({ request, aheadBytes }) => {
      const source = sources.find(({ peer }) => peer === request.peer);
      const partialBytes = Math.min(blockBytes, this.#state.rates.partialBytes(request.peer));
      return source === undefined ? [] : { index: request.index, source, aheadBytes: aheadBytes - partialBytes };
    });
    const missingBytes = (blockCount(size) - todo.hereCount) * blockBytes;
    const has = ({ hasAll, offer }: FetchSource, index: number): boolean => hasAll || offer?.has(index) === true;
    const able = sources.filter(({ peer }) => mayAsk(peer));
    const isGone = (member: MemberId): boolean =>
      member !== this.#context.self.id && this.#peers.get(member)?.ready !== true;
    const request = nextRequest<(typeof sources)[number]>({
      sources: able,
      pending,
      missingBytes,
      isShared: todo.isShared,
      quietMs: nowMs - Math.max(fetch.startedMs, ...sources.map(({ offer }) => offer?.newsMs ?? 0)),
      has,
      distance: (index) => todo.distance(index, isGone),
    });
    if (request === undefined) return undefined;
    const { source, index } = request;
    return { peer: source.peer, index, isOffered: source.offer?.has(index) === true };
  }
}

/** True for a member that has the content: its filter says so, or it has told nothing of its contents, and shows the operation. */
function isHolder({ holdings, applied }: Peer, { operation, content }: Fetch): boolean {
  return holdings === undefined ? holds(applied, operation) : holdings.mayHave(content);
}

/** True for a member whose filter says that it does not have the content. That may be old: it is asked, but after others. */
function lacks({ holdings }: Peer, { content }: Fetch): boolean {
  return holdings?.mayHave(content) === false;
}
