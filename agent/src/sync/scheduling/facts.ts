import type { MemberId, Operation } from '@lockstep/shared';
import { Signal } from './signal.ts';

/** What happens in this member. Loops tell it, and subscribe to what concerns them: none calls another to wake it. */
export class Facts {
  /** Operations of this member were journaled. */
  readonly made = new Signal<readonly Operation[]>();
  /** Operations of other members were journaled. */
  readonly received = new Signal<readonly Operation[]>();
  /** The disk shows more of the journal: so many entries, and bytes of files among them. */
  readonly applied = new Signal<{ readonly entries: number; readonly bytes: number }>();
  /** What is at the path may not be what its row says. */
  readonly doubted = new Signal<string>();
  /** The directory may be new here, or hold what no scan has seen. */
  readonly unscanned = new Signal<string>();
  /** The whole folder was scanned. */
  readonly scanned = new Signal();
  /** What was hidden, ignored or away can be seen again. */
  readonly revealed = new Signal();
  /** `.lockstepignore` may say something else than before. */
  readonly rulesTouched = new Signal();
  /** Something waits for what users changed to become durable. */
  readonly syncWanted = new Signal();
  /** Rows are `unsynced` no more. */
  readonly durable = new Signal();
  /** The bytes at the path turned out not to be what its row says: it is to be read whole for a verdict. */
  readonly suspected = new Signal<string>();
  /** An entry is damaged: its content is pending. */
  readonly damaged = new Signal();
  /** Searches for the contents of these paths have ended. */
  readonly fetched = new Signal<{ readonly paths: readonly string[]; readonly areHere: boolean }>();
  /** A loser got a conflict copy. */
  readonly copied = new Signal();
  /** No member has a content any more. */
  readonly contentLost = new Signal();
  readonly sessionOpened = new Signal<MemberId>();
  readonly sessionClosed = new Signal<MemberId>();
  /** A connection to another member ended, whether or not it had said hello. */
  readonly linkEnded = new Signal();
  /** Another member went down, left, or is back. */
  readonly membersChanged = new Signal();
  /** Another member said what it knows and holds. */
  readonly acknowledged = new Signal();
  /** Every known address was dialled once. */
  readonly roundDialled = new Signal();
  /** This member stops. */
  readonly leaving = new Signal();
  /** A second has passed. */
  readonly second = new Signal();

  /** Calls `wake` after operations of any member were journaled, until the returned function is called. */
  onJournaled(wake: () => void): () => void {
    const stops = [this.made.on(wake), this.received.on(wake)];
    return () => {
      for (const stop of stops) stop();
    };
  }
}
