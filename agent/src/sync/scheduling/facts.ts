import type { ContentId, MemberId, Operation } from '@lockstep/shared';
import { Signal } from './signal.ts';

/** The facts that loops of this member publish and subscribe to. No loop calls another one to wake it. */
export class Facts {
  /** Operations of this member were journaled. */
  readonly made = new Signal<readonly Operation[]>();
  /** Operations of other members were journaled. */
  readonly received = new Signal<readonly Operation[]>();
  /** Entries of the journal were applied to the disk: their number, and the bytes of the files among them. */
  readonly applied = new Signal<{ readonly entries: number; readonly bytes: number }>();
  /** The entry at the path may differ from its row. */
  readonly doubted = new Signal<string>();
  /** An action at the path failed, and the disk does not show whether it had an effect. */
  readonly actionUnclear = new Signal<string>();
  /** The directory may be new here, or hold entries that no scan has seen. */
  readonly unscanned = new Signal<string>();
  /** The whole folder was scanned. */
  readonly scanned = new Signal();
  /** Entries that were hidden, ignored or unavailable can be seen again. */
  readonly revealed = new Signal();
  /** `.lockstepignore` may have changed. */
  readonly rulesTouched = new Signal();
  /** A task waits until users' changes are durable. */
  readonly syncWanted = new Signal();
  /** Rows are no longer `unsynced`. */
  readonly durable = new Signal();
  /** The bytes at the path differ from those of its row: the whole file must be read for a verdict. */
  readonly suspected = new Signal<string>();
  /** An entry is damaged: its content is pending. */
  readonly damaged = new Signal();
  /** A block of this content was verified and staged. */
  readonly staged = new Signal<ContentId>();
  /** The searches for the contents of these paths have ended. */
  readonly fetched = new Signal<{ readonly paths: readonly string[]; readonly areHere: boolean }>();
  /** Another member was asked for a content for the first time in a fetch. */
  readonly asked = new Signal();
  /** A member on demand lacks a content that its holdings name. */
  readonly misled = new Signal();
  /** A reader waits for the file at the path, whose content is on other members only. */
  readonly demanded = new Signal<string>();
  /** A person changed which files are to be on this disk. */
  readonly pinned = new Signal();
  /** Copies are to be on other members than before. */
  readonly placed = new Signal();
  /** This number of bytes of a needed content was on this machine already, or is zeros. */
  readonly reused = new Signal<number>();
  /** A losing sibling was written as a conflict copy. */
  readonly copied = new Signal();
  /** A content was lost: no member has it any more. */
  readonly contentLost = new Signal();
  readonly sessionOpened = new Signal<MemberId>();
  readonly sessionClosed = new Signal<MemberId>();
  /** A connection to another member ended, before or after its hello. */
  readonly linkEnded = new Signal();
  /** Another member went down, left, or came back. */
  readonly membersChanged = new Signal();
  /** Another member acknowledged the operations that it knows and holds. */
  readonly acknowledged = new Signal();
  /** Every known address has been dialled once. */
  readonly roundDialled = new Signal();
  /** This member stops. */
  readonly leaving = new Signal();
  /** The disk of the folder was measured: its free bytes. */
  readonly roomMeasured = new Signal<number>();
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
