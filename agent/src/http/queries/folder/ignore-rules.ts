import { dotKey, entryType, isLive, isStatePath, joinPath } from '@lockstep/shared';
import type { IgnorePreview, IgnoreRulesAnswer } from '@lockstep/shared/api';
import {
  type IgnoreRuleProblem,
  type IgnoreRules,
  ignoreFileName,
  keepsIgnoring,
  parseIgnoreRules,
} from '../../../core/ignore/ignore-rules.ts';
import type { Engine } from '../../../sync/engine.ts';
import { Yielder } from '../../../sync/scheduling/yielder.ts';
import { openVersion } from './content.ts';

/** Paths that are listed of each kind; more are only counted. */
const listedMax = 20;
/** The longest time for each kind: what was found by then is the answer. */
const compareMs = 5_000;
/** Paths that are counted: a hundred thousand take some ten megabytes. */
const countedMax = 100_000;
const headsAtOnce = 1_000;

/** The file of the rules, as the cluster has it, and what of it is in force here. */
export async function readIgnoreRules(engine: Engine): Promise<IgnoreRulesAnswer> {
  const { ignored, journal } = engine.context;
  const [head] = journal.heads.at(ignoreFileName);
  const exists = head !== undefined && isLive(head);
  return {
    path: ignoreFileName,
    version: exists ? dotKey(head) : null,
    text: exists ? await textOf(engine) : '',
    ...(ignored.fault !== undefined && { fault: ignored.fault }),
    isWaiting: ignored.isWaiting,
    skipped: copied(ignored.problems),
  };
}

async function textOf(engine: Engine): Promise<string | null> {
  const [head] = engine.context.journal.heads.at(ignoreFileName);
  if (head?.content === undefined) return null;
  const { chunks } = await openVersion(engine, head);
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    return null;
  }
}

/** Compares the rules of `text` with those in force. Other work runs between the slices. */
export async function previewIgnoreRules(engine: Engine, text: string, signal: AbortSignal): Promise<IgnorePreview> {
  const { ignored, clock } = engine.context;
  const next = parseIgnoreRules(text);
  const isOver = (beganMs: number): boolean => signal.aborted || clock.monotonicMs() - beganMs > compareMs;
  const hidden = new Affected();
  const revealed = new Affected();
  const beganMs = clock.monotonicMs();
  await compareHeads(engine, next, { hidden, revealed, isOver: () => isOver(beganMs) });
  // To find what is ignored now, the whole folder must be listed.
  if (!keepsIgnoring(ignored.text, text)) {
    const listMs = clock.monotonicMs();
    await compareDisk(engine, next, revealed, () => isOver(listMs));
  }
  return { ignored: hidden.answer(), revealed: revealed.answer(), skipped: copied(next.problems) };
}

interface Comparison {
  readonly hidden: Affected;
  readonly revealed: Affected;
  readonly isOver: () => boolean;
}

/** Compares the entries of the cluster. */
async function compareHeads(
  engine: Engine,
  next: IgnoreRules,
  { hidden, revealed, isOver }: Comparison,
): Promise<void> {
  const { journal, ignored, clock } = engine.context;
  const yielder = new Yielder(clock);
  let after: string | undefined;
  for (;;) {
    const heads = journal.heads.under('', after, headsAtOnce);
    for (const head of heads) {
      if (!isLive(head) || isStatePath(head.path)) continue;
      const isDirectory = entryType(head) === 'directory';
      const before = ignored.ignores(head.path, isDirectory);
      const later = next.ignores(head.path, isDirectory);
      if (before !== later) (later ? hidden : revealed).add(head.path);
    }
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return;
    await yielder.maybeYield();
    if (isOver()) {
      hidden.isPartial = true;
      revealed.isPartial = true;
      return;
    }
  }
}

/** Finds the entries of this disk that are ignored now and would not be. */
async function compareDisk(
  engine: Engine,
  next: IgnoreRules,
  revealed: Affected,
  isOver: () => boolean,
): Promise<void> {
  const { folder, ignored } = engine.context;
  const skip = (path: string, isDirectory: boolean): boolean => next.ignores(path, isDirectory);
  for await (const chunk of folder.scan('', { recursive: true, unwatched: true, skip })) {
    for (const { path: directory, entries } of chunk) {
      for (const { name, type } of entries) {
        const path = joinPath(directory, name);
        if (ignored.ignores(path, type === 'directory')) revealed.add(path);
      }
    }
    if (isOver()) {
      revealed.isPartial = true;
      return;
    }
  }
}

/** Paths that a change concerns: their number, and the first of them. */
class Affected {
  readonly #paths = new Set<string>();
  isPartial = false;

  add(path: string): void {
    if (this.#paths.size < countedMax) this.#paths.add(path);
    else this.isPartial = true;
  }

  answer(): IgnorePreview['ignored'] {
    return { count: this.#paths.size, first: [...this.#paths].sort().slice(0, listedMax), isPartial: this.isPartial };
  }
}

function copied(problems: readonly IgnoreRuleProblem[]): IgnoreRulesAnswer['skipped'] {
  return problems.map(({ line, text, detail }) => ({ line, text, detail }));
}
