import { batchPathsMax, entryType, isLive } from '@lockstep/shared';
import { type DiskChange, type DiskEntry, type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { holdsIgnoreRules, ignoreFileName, parseIgnoreRules, withPatternsOf } from '../../core/ignore/ignore-rules.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';
import { ignoreRulesSetting, rulesRestMs } from '../state/ignore-file.ts';

/** Number of paths after the file's own that are searched for its conflict copies, which sort first. */
const copiesMax = 64;

/** Interval at which a member that knows no rules yet tries to read them. */
const unknownRetryMs = 250;
const unreadRetryMs = 1_000;
/**
 * Reads `.lockstepignore` again. Resolves with true if the rules changed. Entries that are no longer ignored and are missing here are
 * then pending: the removal of an ignored entry was no delete, and must not become one because of new rules. `mayBeNone`: false
 * while it is unknown whether other members have rules, so that a missing file does not mean that there are none.
 */
export async function followIgnoreRules(context: Context, mayBeNone = true): Promise<boolean> {
  const { ignored, folder, journal, lock, clock } = context;
  // Under the lock: between these two steps no detection may find an entry missing that was ignored a moment before.
  const changed = await lock.run(async () => {
    const isDamaged = journal.disk.at(ignoreFileName)?.damaged === true;
    const reading = await ignored.read(folder, isDamaged);
    const isRemoved = reading.state === 'absent' && journal.disk.at(ignoreFileName)?.fingerprint !== undefined;
    // On a newcomer the file may still be on its way.
    const isOnItsWay = reading.state === 'absent' && !ignored.isKnown && !(mayBeNone && (isRemoved || isGone(context)));
    // A path that only one side of a conflict ignores must not be sent.
    const copies = await ignored.readCopies(folder, copiesOf(context));
    const isContested = copies.includes(undefined) || journal.heads.at(ignoreFileName).length > 1;
    const text = withPatternsOf(
      reading.state === 'rules' ? reading.text : '',
      copies.filter((copy) => copy !== undefined),
    );
    if (reading.state === 'fault' || isOnItsWay || ignored.has(text)) {
      ignored.rests();
      return false;
    }
    if (!ignored.mayTake(text, clock.monotonicMs(), { isContested, isRemoved })) return false;
    await forgetVanished(context, text);
    ignored.take(text);
    writeIfRoom(() => journal.settings.set(ignoreRulesSetting, text));
    return true;
  });
  reportIgnoreRules(context);
  if (changed) await unblockIgnored(context);
  return changed;
}

/** The loop that follows changes of `.lockstepignore`. Paths that are no longer ignored are compared and synchronized; none is deleted. */
export class IgnoreReload {
  readonly #context: Context;
  readonly #isActive: () => boolean;
  readonly #loop: TaskLoop;

  constructor(context: Context, isActive: () => boolean) {
    this.#context = context;
    this.#isActive = isActive;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#reload(),
      failed: (error) => context.log.error({ error: String(error) }, 'the ignore rules could not be read'),
      retryMs: unreadRetryMs,
    });
    const { facts } = context;
    facts.made.on((operations) => {
      if (operations.some(({ path }) => holdsIgnoreRules(path))) this.#loop.poke();
    });
    facts.rulesTouched.on(() => this.#loop.poke());
    facts.second.on(() => this.#readAgain());
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Reads an unreadable file again. A repair may raise no event, such as a change of a permission or the removal of a pipe. */
  #readAgain(): void {
    const { fault, isWaiting } = this.#context.ignored;
    if (isWaiting || (this.#isActive() && fault !== undefined)) this.#loop.poke();
  }

  async #reload(): Promise<void> {
    const { ignored, facts } = this.#context;
    const hasChanged = await followIgnoreRules(this.#context);
    if (ignored.isWaiting) this.#loop.in(rulesRestMs);
    if (hasChanged) facts.revealed.publish();
  }
}

/** Resolves once the rules were read, or the file was found absent, or `isStopped` returns true. Polls until then. */
export async function untilRulesAreKnown(context: Context, isStopped: () => boolean): Promise<void> {
  for (;;) {
    await followIgnoreRules(context);
    if (context.ignored.isKnown || isStopped()) return;
    await new Promise<void>((resolve) => {
      context.clock.after(unknownRetryMs, resolve);
    });
  }
}

/** Conflict copies of the file. */
function copiesOf({ journal, ignored }: Context): readonly string[] {
  const heads = journal.heads.under('', ignoreFileName, copiesMax);
  return heads
    .filter((head) => holdsIgnoreRules(head.path) && entryType(head) === 'file' && !ignored.ignores(head.path, false))
    .map(({ path }) => path);
}

function isGone({ journal }: Context): boolean {
  const [head] = journal.heads.at(ignoreFileName);
  return head === undefined || !isLive(head);
}

/** Removes the rows of entries that are ignored now, not under the rules of `text`, and missing here. */
async function forgetVanished({ journal, folder, ignored }: Context, text: string): Promise<void> {
  const next = parseIgnoreRules(text);
  let after: string | undefined;
  for (;;) {
    const rows = journal.disk.below('', after, batchPathsMax);
    const freed = rows.filter((row): row is DiskEntry & { fingerprint: Fingerprint } => {
      if (row.fingerprint === undefined) return false;
      const isDirectory = isDirectoryMode(row.fingerprint.mode);
      return ignored.ignores(row.path, isDirectory) && !next.ignores(row.path, isDirectory);
    });
    const seen = await folder.observe(freed.map(({ path, fingerprint }) => ({ path, expected: fingerprint })));
    const gone = seen.filter(({ state }) => state === 'absent');
    if (gone.length > 0) journal.disk.record(gone.map(({ path }): DiskChange => ({ path, entry: undefined })));
    after = rows.at(-1)?.path;
    if (rows.length < batchPathsMax) return;
  }
}

/**
 * Removes the rows of entries that were not applied because they were ignored, and no longer are, so that these entries are
 * pending again.
 */
async function unblockIgnored({ journal, ignored, clock }: Context): Promise<void> {
  const yielder = new Yielder(clock);
  let after: string | undefined;
  for (;;) {
    const heads = journal.heads.under('', after, batchPathsMax);
    const rows: DiskChange[] = [];
    for (const head of heads) {
      const row = journal.disk.at(head.path);
      if (row === undefined || row.fingerprint !== undefined || !isLive(head)) continue;
      if (!ignored.ignores(head.path, entryType(head) === 'directory'))
        rows.push({ path: head.path, entry: undefined });
    }
    if (rows.length > 0) journal.disk.record(rows);
    after = heads.at(-1)?.path;
    if (heads.length < batchPathsMax) return;
    await yielder.maybeYield();
  }
}

function reportIgnoreRules({ ignored, problems }: Context): void {
  if (ignored.fault === undefined) problems.clear('ignore-file');
  else problems.set('ignore-file', {}, ignored.fault);
  const [first, ...more] = ignored.problems;
  if (first === undefined) {
    problems.clear('ignore-rule');
    return;
  }
  const others =
    more.length === 0
      ? ''
      : ` Also skipped: ${more.length === 1 ? 'line' : 'lines'} ${more.map(({ line }) => line).join(', ')}.`;
  const detail = `Line ${first.line} of ${ignoreFileName} is skipped; the other lines are in force. ${first.detail}${others}`;
  // Without the path: the file itself can be read, and a detection at its path would withdraw the problem.
  problems.set('ignore-rule', {}, detail);
}
