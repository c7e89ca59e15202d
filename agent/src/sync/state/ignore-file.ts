import { ignoreFileBytesMax } from '@lockstep/shared';
import {
  type IgnoreRuleProblem,
  type IgnoreRules,
  ignoreFileName,
  keepsIgnoring,
  parseIgnoreRules,
} from '../../core/ignore/ignore-rules.ts';
import type { Folder, Observation } from '../ports/folder.ts';
import type { Context } from './context.ts';

/** Where the journal keeps the text of the rules that are in force. */
export const ignoreRulesSetting = 'ignore-rules';

/** How long rules that let go of something must have stood unchanged, in milliseconds. */
export const rulesRestMs = 1_000;
/** How often somebody who waits for rules to be in force asks. */
const restingRetryMs = 50;

/** What a look at the file found. `fault`: why it cannot be read as rules, and what to do. */
export type IgnoreReading =
  | { readonly state: 'rules'; readonly text: string }
  | { readonly state: 'absent' }
  | { readonly state: 'fault'; readonly fault: string };

/**
 * The ignore rules in force on this member. A file that cannot be read changes none of them: were it taken for an empty one, what
 * it was to keep back would be sent to all others.
 */
export class IgnoreFile {
  /** What was read, lets go of what the rules in force keep back, and must rest before it is taken. */
  #waiting: { readonly text: string; readonly sinceMs: number } | undefined;
  #text: string | undefined;
  #rules: IgnoreRules;
  #fault: string | undefined;

  /** `text`: the rules that were in force last; undefined on a member that has not read any yet. */
  constructor(text: string | undefined) {
    this.#text = text;
    this.#rules = parseIgnoreRules(text ?? '');
  }

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#rules.ignores(path, isDirectory);
  }

  /** The lines that are left out. */
  get problems(): readonly IgnoreRuleProblem[] {
    return this.#rules.problems;
  }

  /** False as long as no rules were read, nor found to be none: nothing of the folder may be journaled. */
  get isKnown(): boolean {
    return this.#text !== undefined;
  }

  /** Why the file could not be read the last time, and what to do; undefined when it could. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The texts of conflict copies of the file; undefined for one that cannot be read now. */
  async readCopies(folder: Folder, paths: readonly string[]): Promise<readonly (string | undefined)[]> {
    const seen = await folder.observe(paths.map((path) => ({ path, bytesMax: ignoreFileBytesMax })));
    return seen.map(readingOf).map((reading) => (reading.state === 'rules' ? reading.text : undefined));
  }

  /** `isDamaged`: what is there is not what anybody wrote. */
  async read(folder: Folder, isDamaged: boolean): Promise<IgnoreReading> {
    const [seen] = await folder.observe([{ path: ignoreFileName, bytesMax: ignoreFileBytesMax }]);
    const reading = isDamaged ? fault('is damaged: it comes from another member, or write it again.') : readingOf(seen);
    this.#fault = reading.state === 'fault' ? `${reading.fault} ${this.#consequence}` : undefined;
    return reading;
  }

  /** Is `text` what is in force already? */
  has(text: string): boolean {
    return this.#text === text;
  }

  /** True while rules were read that are not in force yet. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /**
   * Whether `text` may be taken. Rules that let go of what is kept back must have rested: whoever saves the file may leave it empty, or
   * without its last lines, for a moment, and what is sent then cannot be called back. `isContested`: what else somebody wrote there is
   * not known yet. `isRemoved`: the file stood here, and is gone.
   */
  mayTake(
    text: string,
    nowMs: number,
    { isContested, isRemoved }: { readonly isContested: boolean; readonly isRemoved: boolean },
  ): boolean {
    if (this.#text === undefined ? !isRemoved : keepsIgnoring(this.#text, text)) return true;
    if (this.#waiting?.text !== text || isContested) this.#waiting = { text, sinceMs: nowMs };
    return nowMs - this.#waiting.sinceMs >= rulesRestMs;
  }

  /** What is there is in force, or cannot be read: nothing waits. */
  rests(): void {
    this.#waiting = undefined;
  }

  /** From here on the rules of `text` are in force. */
  take(text: string): void {
    this.#waiting = undefined;
    this.#text = text;
    this.#rules = parseIgnoreRules(text);
  }

  get #consequence(): string {
    if (this.isKnown) return 'Until then the rules that were read last stay in force on this member.';
    return 'No rules were read here before: until then nothing of this folder is sent to other members.';
  }
}

function fault(what: string): IgnoreReading {
  return { state: 'fault', fault: `${ignoreFileName} ${what}` };
}

function readingOf(seen: Observation | undefined): IgnoreReading {
  switch (seen?.state) {
    case 'absent':
      return { state: 'absent' };
    case 'file': {
      if (seen.bytes === undefined) return fault(tooLong);
      const text = textOf(seen.bytes);
      if (text === undefined) return fault('is no text in UTF-8: save it as UTF-8.');
      return { state: 'rules', text };
    }
    case 'large':
      return fault(tooLong);
    case 'symlink':
      return fault('is a symbolic link, which is not followed: put a file in its place.');
    case 'directory':
      return fault('is a directory: put a file in its place.');
    case 'special':
      return fault('is a socket, pipe or device: put a file in its place.');
    case 'problem':
      return fault(`cannot be read: ${seen.detail}`);
    default:
      return fault('changes while it is read: let it rest for a moment.');
  }
}

const tooLong = `has more than ${ignoreFileBytesMax} bytes: shorten it.`;

/** The text of the bytes; undefined where they are something else, UTF-16 for instance, in which no rule would match. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Resolves once no rules wait to be in force, or `giveUp` says so. */
export async function untilRulesRest(context: Context, giveUp: () => boolean): Promise<void> {
  const { ignored, clock } = context;
  while (ignored.isWaiting && !giveUp()) {
    await new Promise<void>((resolve) => {
      clock.after(restingRetryMs, resolve);
    });
  }
}
