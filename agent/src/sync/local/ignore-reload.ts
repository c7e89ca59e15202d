import { batchPathsMax, entryType, isLive } from '@lockstep/shared';
import { type DiskChange, type DiskEntry, type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { holdsIgnoreRules, ignoreFileName, parseIgnoreRules, withPatternsOf } from '../../core/ignore/ignore-rules.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';
import { ignoreRulesSetting, rulesRestMs } from '../state/ignore-file.ts';

const headsAtOnce = 1_000;
/** Paths after the file's own that are looked through for conflict copies of it, which come first. */
const copiesMax = 64;

/** How often a member that knows no rules yet looks whether it can read them. */
const unknownRetryMs = 250;
const unreadRetryMs = 1_000;
/**
 * Reads `.lockstepignore` again; true when the rules changed. What they let go is pending then where it does not stand here:
 * what went while it was ignored was nobody's delete, and must not become one because a rule went. `mayBeNone`: false before it is
 * known whether the others have rules, when a missing file does not mean that there are none.
 */
export async function followIgnoreRules(context: Context, mayBeNone = true): Promise<boolean> {
  const { ignored, folder, journal, lock, clock } = context;
  // Under the lock: between these two steps no look may find absent what was ignored a moment before.
  const changed = await lock.run(async () => {
    const isDamaged = journal.disk(ignoreFileName)?.damaged === true;
    const reading = await ignored.read(folder, isDamaged);
    const isRemoved = reading.state === 'absent' && journal.disk(ignoreFileName)?.fingerprint !== undefined;
    // A newcomer whose file is still on its way.
    const isOnItsWay = reading.state === 'absent' && !ignored.isKnown && !(mayBeNone && (isRemoved || isGone(context)));
    // What only one side of a conflict keeps back is nobody's to send.
    const copies = await ignored.readCopies(folder, copiesOf(context));
    const isContested = copies.includes(undefined) || journal.heads(ignoreFileName).length > 1;
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
    writeIfRoom(() => journal.setSetting(ignoreRulesSetting, text));
    return true;
  });
  reportIgnoreRules(context);
  if (changed) unparkIgnored(context);
  return changed;
}

/** Keeps the rules as `.lockstepignore` says. What they let go is compared and brought up to date; nothing is ever deleted by it. */
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

  /** What mends a file that could not be read may be no change that is journaled: a permission, or a pipe that is removed. */
  #readAgain(): void {
    const { fault, isWaiting } = this.#context.ignored;
    if (isWaiting || (this.#isActive() && fault !== undefined)) this.#loop.poke();
  }

  async #reload(): Promise<void> {
    const { ignored, facts } = this.#context;
    const hasChanged = await followIgnoreRules(this.#context);
    if (ignored.isWaiting) this.#loop.in(rulesRestMs);
    if (hasChanged) facts.revealed.tell();
  }
}

/** Resolves once there are rules, or it is known that there are none; looks until then. */
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
  const heads = journal.headsUnder('', ignoreFileName, copiesMax);
  return heads
    .filter((head) => holdsIgnoreRules(head.path) && entryType(head) === 'file' && !ignored.ignores(head.path, false))
    .map(({ path }) => path);
}

function isGone({ journal }: Context): boolean {
  const [head] = journal.heads(ignoreFileName);
  return head === undefined || !isLive(head);
}

/** Removes the rows of entries that are ignored now, will not be under the rules of `text`, and do not stand here. */
async function forgetVanished({ journal, folder, ignored }: Context, text: string): Promise<void> {
  const next = parseIgnoreRules(text);
  let after: string | undefined;
  for (;;) {
    const rows = journal.diskBelow('', after, batchPathsMax);
    const freed = rows.filter((row): row is DiskEntry & { fingerprint: Fingerprint } => {
      if (row.fingerprint === undefined) return false;
      const isDirectory = isDirectoryMode(row.fingerprint.mode);
      return ignored.ignores(row.path, isDirectory) && !next.ignores(row.path, isDirectory);
    });
    const seen = await folder.observe(freed.map(({ path, fingerprint }) => ({ path, expected: fingerprint })));
    const gone = seen.filter(({ state }) => state === 'absent');
    if (gone.length > 0) journal.recordDisk(gone.map(({ path }): DiskChange => ({ path, entry: undefined })));
    after = rows.at(-1)?.path;
    if (rows.length < batchPathsMax) return;
  }
}

/**
 * Rows of entries that were passed over because they were ignored, and are not any more, are removed, so that the entries count
 * as pending again.
 */
function unparkIgnored({ journal, ignored }: Context): void {
  let after: string | undefined;
  for (;;) {
    const heads = journal.headsUnder('', after, headsAtOnce);
    const rows: DiskChange[] = [];
    for (const head of heads) {
      const row = journal.disk(head.path);
      if (row === undefined || row.fingerprint !== undefined || !isLive(head)) continue;
      if (!ignored.ignores(head.path, entryType(head) === 'directory'))
        rows.push({ path: head.path, entry: undefined });
    }
    if (rows.length > 0) journal.recordDisk(rows);
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return;
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
  const others = more.length === 0 ? '' : ` Left out too: line ${more.map(({ line }) => line).join(', ')}.`;
  const detail = `Line ${first.line} of ${ignoreFileName} is left out, the other lines hold. ${first.detail}${others}`;
  // The file itself is in order, and a look at it would withdraw what is said of its path.
  problems.set('ignore-rule', {}, detail);
}
