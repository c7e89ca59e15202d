import { hashUnderLockBytesMax } from '@lockstep/shared';
import { type DiskEntry, damagedEntry, isSameFingerprint, isSameRow } from '../../core/entry.ts';
import type { Observation } from '../ports/folder.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import { markedRacy } from './racy-rows.ts';

/** `changed`: the file is not what the row says, for a reason that a look at it finds; it is no damage. */
export type Verdict = 'whole' | 'damaged' | 'changed';

/** More are not remembered: the scrub finds the rest. */
const suspectsMax = 1_000;
const suspectRetryMs = 1_000;

/**
 * Finds entries whose bytes changed under an unchanged fingerprint: of a file that is certain no program can leave the change time as it
 * was, so the disk or the memory did it. Such an entry is marked as damaged, which has its content fetched and put over it.
 */
export class Damage {
  readonly #context: Context;
  /** Paths that people were told of. */
  readonly #told = new Set<string>();
  /** Paths that are to be read whole for a verdict. */
  readonly #suspects = new Set<string>();
  readonly #loop: TaskLoop;

  constructor(context: Context) {
    this.#context = context;
    context.facts.second.on(() => this.tick());
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#checkSuspects(),
      failed: (error) =>
        context.log.error({ error: String(error) }, 'a suspect file could not be read; the scrub will read it'),
      retryMs: suspectRetryMs,
    });
    context.facts.suspected.on((path) => this.#suspect(path));
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Called now and then: tells people of entries that are damaged, and withdraws that of those that are damaged no more. */
  tick(): void {
    const { journal, problems } = this.#context;
    // What else is marked was found after a power cut, and is reported as a whole.
    const rows = journal.damaged().filter(({ found, cut }) => found !== undefined && !cut);
    const damaged = new Set(rows.map(({ path }) => path));
    for (const path of damaged) {
      if (!problems.has('file-damaged', { path })) problems.set('file-damaged', { path }, detailOf(path));
      this.#told.add(path);
    }
    for (const path of this.#told) {
      if (damaged.has(path)) continue;
      this.#told.delete(path);
      problems.clear('file-damaged', { path });
      if (journal.disk(path)?.fingerprint !== undefined) this.#context.events.add('repaired', { path });
    }
  }

  /** Reads the whole file at a path and compares it with its row. Marks it where it is damaged. Not to be called under the folder lock. */
  async check(path: string): Promise<Verdict> {
    const { journal, folder, lock } = this.#context;
    const row = journal.disk(path);
    if (row?.damaged) return 'damaged';
    if (row?.fingerprint === undefined || row.content === undefined) return 'changed';
    const isLarge = row.fingerprint.size > hashUnderLockBytesMax;
    const [read] = isLarge ? await folder.observe([{ path, hashLarge: true }]) : [];
    return lock.run(async () => {
      const expected = read?.state === 'file' ? read.fingerprint : undefined;
      const [now] = await folder.observe([{ path, expected, hashLarge: !isLarge }]);
      return this.#judge(row, now?.state === 'same' ? read : now);
    });
  }

  #judge(row: DiskEntry, seen: Observation | undefined): Verdict {
    const { path, content, fingerprint } = row;
    const known = this.#context.journal.disk(path);
    if (!isSameRow(known, row) || known.racy || seen?.state !== 'file') return this.#changed(path);
    if (fingerprint === undefined || !isSameFingerprint(seen.fingerprint, fingerprint)) return this.#changed(path);
    if (seen.content === content) return 'whole';
    if (known.unconfirmed) {
      // A store through a mapping, which left no trace.
      this.#context.journal.recordDisk([markedRacy(known, true)]);
      return this.#changed(path);
    }
    this.mark(row, seen);
    return 'damaged';
  }

  /** Records that what is at the row's path is not what its operation says. To be called under the folder lock. */
  mark({ path, dot }: DiskEntry, { fingerprint, content: found }: Observation & { state: 'file' }): void {
    this.#context.log.warn({ path, found }, 'a file is damaged');
    this.#context.journal.recordDisk([{ path, entry: damagedEntry(dot, fingerprint, found) }]);
    this.tick();
    this.#context.facts.damaged.tell();
  }

  #changed(path: string): Verdict {
    this.#context.facts.doubted.tell(path);
    return 'changed';
  }

  #suspect(path: string): void {
    if (this.#suspects.size >= suspectsMax) return;
    this.#suspects.add(path);
    this.#loop.poke();
  }

  async #checkSuspects(): Promise<void> {
    for (const path of this.#suspects) {
      if (this.#loop.isStopped) return;
      this.#suspects.delete(path);
      await this.check(path);
    }
  }
}

function detailOf(path: string): string {
  return (
    `The bytes of ${path} on this disk are not those that were written, and no program changed them. They are fetched from another ` +
    'member; what is there goes to .lockstep/history. Check the disk.'
  );
}
