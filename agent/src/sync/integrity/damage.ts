import { hashUnderLockBytesMax } from '@lockstep/shared';
import { type DiskEntry, damagedEntry, isSameFingerprint, isSameRow, markedRacy } from '../../core/entry.ts';
import type { Observation } from '../ports/observation.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

/** The result of a check. `changed`: the file differs from its row because of a change that a detection finds; it is no damage. */
export type Verdict = 'whole' | 'damaged' | 'changed';

/** Largest number of suspects; the scrub finds the others. */
const suspectsMax = 1_000;
const suspectRetryMs = 1_000;

/**
 * Finds entries whose bytes changed under an unchanged fingerprint. If the row is certain, no program can have left the change time
 * as it was, so the disk or the memory is at fault. Such an entry is marked as damaged: its content is then fetched and applied again.
 */
export class Damage {
  readonly #context: Context;
  /** Paths with a reported problem. */
  readonly #reported = new Set<string>();
  /** Paths whose files must be read whole for a verdict. */
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

  /** Reports damaged entries, and withdraws the problems of repaired ones. Must be called regularly. */
  tick(): void {
    const { journal, problems } = this.#context;
    // Other damaged rows were found after a power cut, and are reported together.
    const rows = journal.disk.damaged().filter(({ found, cut }) => found !== undefined && !cut);
    const damaged = new Set(rows.map(({ path }) => path));
    for (const path of damaged) {
      if (!problems.has('file-damaged', { path })) problems.set('file-damaged', { path }, detailOf(path));
      this.#reported.add(path);
    }
    for (const path of this.#reported) {
      if (damaged.has(path)) continue;
      this.#reported.delete(path);
      problems.clear('file-damaged', { path });
      if (journal.disk.at(path)?.fingerprint !== undefined) this.#context.events.add('repaired', { path });
    }
  }

  /** Reads the whole file at a path, compares it with its row, and marks it if it is damaged. Must not be called under the folder lock. */
  async check(path: string): Promise<Verdict> {
    const { journal, folder, lock } = this.#context;
    const row = journal.disk.at(path);
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
    const known = this.#context.journal.disk.at(path);
    if (!isSameRow(known, row) || known.racy || seen?.state !== 'file') return this.#changed(path);
    if (fingerprint === undefined || !isSameFingerprint(seen.fingerprint, fingerprint)) return this.#changed(path);
    if (seen.content === content) return 'whole';
    if (known.unconfirmed) {
      // A store through a mapping, which left no trace.
      this.#context.journal.disk.record([markedRacy(known, true)]);
      return this.#changed(path);
    }
    this.mark(row, seen);
    return 'damaged';
  }

  /** Marks the row as damaged. Call it under the folder lock. */
  mark({ path, dot }: DiskEntry, { fingerprint, content: found }: Observation & { state: 'file' }): void {
    this.#context.log.warn({ path, found }, 'a file is damaged');
    this.#context.journal.disk.record([{ path, entry: damagedEntry(dot, fingerprint, found) }]);
    this.tick();
    this.#context.facts.damaged.publish();
  }

  #changed(path: string): Verdict {
    this.#context.facts.doubted.publish(path);
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
    'member; the damaged file goes to .lockstep/history. Check the disk.'
  );
}
