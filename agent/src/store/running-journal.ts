import type { Journal } from '../sync/ports/journal.ts';
import type { Log } from '../sync/ports/log.ts';
import { type JournalOptions, openJournalOrRebuild, type SetAside } from './journal.ts';

/** The interval at which the agent checks whether its journal still has its name. */
const lookMs = 1_000;
/** A row that no one reads for this long is not worth its memory. */
const cacheAgeMs = 60_000;

/** A journal whose caches age, and whose files are checked, until it is closed. `setAside`: the damaged one that it replaces. */
export interface RunningJournal {
  readonly journal: Journal;
  readonly setAside: SetAside | undefined;
  readonly close: () => void;
}

/** Opens the journal of an agent that runs, as `openJournalOrRebuild` does. One whose files are removed ends the process. */
export async function openRunningJournal(options: JournalOptions & { readonly log: Log }): Promise<RunningJournal> {
  const { journal, setAside } = await openJournalOrRebuild(options);
  const ageing = setInterval(() => journal.ageCaches(), cacheAgeMs).unref();
  // Ends the process with what the error says, as an error in a timer does.
  const looking = setInterval(() => journal.endIfRemoved(), lookMs).unref();
  const close = (): void => {
    clearInterval(ageing);
    clearInterval(looking);
    journal.close();
  };
  return { journal, setAside, close };
}
