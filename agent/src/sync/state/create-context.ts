import { carriedAddresses, inlineWaitingBytesMax, outboxBytesMax } from '@lockstep/shared';
import { ignoreRulesSetting } from '../local/ignore-reload.ts';
import type { Clock } from '../ports/clock.ts';
import type { Folder } from '../ports/folder.ts';
import type { Journal } from '../ports/journal.ts';
import type { Log } from '../ports/log.ts';
import { InlineContents } from './byte-cache.ts';
import type { Context, Self } from './context.ts';
import type { Events } from './events.ts';
import { FolderLock } from './folder-lock.ts';
import { IgnoreFile } from './ignore-file.ts';
import { MissingContents } from './missing-contents.ts';
import { OtherHolders } from './other-holders.ts';
import { Problems } from './problems.ts';
import { SharedBatches } from './shared-batches.ts';
import { Suspects } from './suspects.ts';

/** What all loops of one member share, over the given adapters. Each new problem is logged and becomes an event. */
export function createContext(
  parts: {
    readonly identity: Self;
    readonly journal: Journal;
    readonly folder: Folder;
    readonly clock: Clock;
    readonly log: Log;
  },
  events: Events,
): Context {
  const { identity, journal, folder, clock, log } = parts;
  // A machine with containers has dozens of addresses, and the wire carries the best ones.
  const self = { ...identity, addresses: carriedAddresses(identity.addresses) };
  return {
    self,
    journal,
    batches: new SharedBatches(journal),
    folder,
    clock,
    log,
    problems: new Problems(clock, (problem) => {
      log.warn({ ...problem }, problem.detail);
      events.add('problem', { ...problem });
    }),
    suspects: new Suspects(),
    startedAtMs: clock.wallMs(),
    lock: new FolderLock(),
    ignored: new IgnoreFile(journal.setting(ignoreRulesSetting)),
    hiding: new Set(),
    missing: new MissingContents(),
    others: new OtherHolders(self, journal),
    inbox: new InlineContents(inlineWaitingBytesMax),
    outbox: new InlineContents(outboxBytesMax),
  };
}
