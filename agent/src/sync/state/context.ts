import type { MemberId } from '@lockstep/shared';
import type { Clock } from '../ports/clock.ts';
import type { Folder } from '../ports/folder.ts';
import type { Journal } from '../ports/journal.ts';
import type { Log } from '../ports/log.ts';
import type { InlineContents } from './byte-cache.ts';
import type { FolderLock } from './folder-lock.ts';
import type { IgnoreFile } from './ignore-file.ts';
import type { MissingContents } from './missing-contents.ts';
import type { OtherHolders } from './other-holders.ts';
import type { Problems } from './problems.ts';
import type { SharedBatches } from './shared-batches.ts';
import type { Suspects } from './suspects.ts';

/** Who this member is, as others see it. */
export interface Self {
  readonly id: MemberId;
  readonly name: string;
  readonly addresses: readonly string[];
}

/** What every loop works with. */
export interface Context {
  readonly self: Self;
  readonly journal: Journal;
  /** Reads of this member's own operations, shared by the sessions that send them. */
  readonly batches: SharedBatches;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly log: Log;
  readonly lock: FolderLock;
  readonly problems: Problems;
  /** Paths whose bytes may be damaged. */
  readonly suspects: Suspects;
  /** When this run of the agent began, wall clock. */
  readonly startedAtMs: number;
  /** Mount points at which a look or a scan found another mount than it knew, since the mounts were last checked. */
  readonly hiding: Set<string>;
  readonly ignored: IgnoreFile;
  readonly missing: MissingContents;
  readonly others: OtherHolders;
  /** Bytes that came with operations and wait to be applied. */
  readonly inbox: InlineContents;
  /** Bytes of files just written here, for the members that are about to be sent them. */
  readonly outbox: InlineContents;
}
