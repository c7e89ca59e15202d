import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { showsUpTo } from './shown.ts';

/** A member that starts alone does not wait longer than this for others to answer, nor for what does not move. */
const patienceMs = 3_000;
const helloCheckMs = 10;
const levelCheckMs = 20;

/** What a member waits for before it is active: that the others have answered, and that its disk shows what they know. */
export class StartUp {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #transfers: ContentFetcher;
  #answered: (() => void) | undefined;
  #levelled: (() => void) | undefined;
  #stopped = false;

  constructor(context: Context, peers: Peers, transfers: ContentFetcher) {
    this.#context = context;
    this.#peers = peers;
    this.#transfers = transfers;
    context.facts.roundDialled.on(() => this.#answered?.());
  }

  stop(): void {
    this.#stopped = true;
    this.#levelled?.();
  }

  /** Resolves when everyone who can be reached was dialled and has said hello, or after a while. */
  firstRound(): Promise<void> {
    const { clock, journal } = this.#context;
    return new Promise((resolve) => {
      const timer = clock.after(patienceMs, resolve);
      this.#answered = () => {
        timer.cancel();
        // Whoever answered says hello within moments; until then it is not known what it knows.
        const wait = (rounds: number): void => {
          const open = this.#peers.all().some((peer) => peer.link !== undefined && !peer.ready);
          if (!open || rounds === 0) resolve();
          else clock.after(helloCheckMs, () => wait(rounds - 1));
        };
        wait(journal.counts().operations === 0 ? 100 : 20);
      };
    });
  }

  /** Resolves when the disk shows what the journal says now, but for paths that have a problem or wait for someone. */
  async level(): Promise<void> {
    const { journal, problems, clock, missing } = this.#context;
    // A content that nobody has is searched again and again. Were that taken for movement, members that begin together would wait for
    // each other: only an active one can say that it lacks it.
    const isFetching = (): boolean => this.#transfers.progress().some(({ path }) => !missing.isAt(path));
    const goal = journal.known();
    let left = journal.counts().pending;
    let movedMs = clock.monotonicMs();
    while (!this.#stopped && !showsUpTo(journal, goal, problems.count)) {
      const { pending } = journal.counts();
      if (pending !== left || isFetching()) movedMs = clock.monotonicMs();
      left = pending;
      // What does not move for so long waits for a member that is away; the others are not kept waiting for that.
      if (clock.monotonicMs() - movedMs > patienceMs) return;
      await new Promise<void>((resolve) => {
        this.#levelled = resolve;
        clock.after(levelCheckMs, resolve);
      });
    }
  }
}
