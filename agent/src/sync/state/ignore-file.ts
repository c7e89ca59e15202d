import { ignoreFileBytesMax } from '@lockstep/shared';
import {
  type IgnoreRuleProblem,
  type IgnoreRules,
  ignoreFileName,
  keepsIgnoring,
  parseIgnoreRules,
} from '../../core/ignore/ignore-rules.ts';
import type { Clock } from '../ports/clock.ts';
import type { Folder } from '../ports/folder.ts';
import type { Observation } from '../ports/observation.ts';

/** Name of the journal setting that holds the text of the rules in force. */
export const ignoreRulesSetting = 'ignore-rules';

/** Rules that stop ignoring a path must have been unchanged for this long, in milliseconds. */
export const rulesRestMs = 1_000;
/** Interval at which a caller polls for rules to be in force, in milliseconds. */
const restingRetryMs = 50;

/** The result of reading the file. `fault`: why it cannot be read as rules, and the action to take. */
export type IgnoreReading =
  | { readonly state: 'rules'; readonly text: string }
  | { readonly state: 'absent' }
  | { readonly state: 'fault'; readonly fault: string };

/**
 * The ignore rules in force on this member. A file that cannot be read changes none of them: if it counted as empty,
 * files that it was meant to ignore would be sent to all other members.
 */
export class IgnoreFile {
  /** Rules that were read and would stop ignoring some path: they are taken once they have rested. */
  #waiting: { readonly text: string; readonly sinceMs: number } | undefined;
  #text: string | undefined;
  #rules: IgnoreRules;
  #fault: string | undefined;

  /** `text`: the rules that were last in force; undefined on a member that has never read any. */
  constructor(text: string | undefined) {
    this.#text = text;
    this.#rules = parseIgnoreRules(text ?? '');
  }

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#rules.ignores(path, isDirectory);
  }

  /** Lines of the file that are not valid rules and are skipped. */
  get problems(): readonly IgnoreRuleProblem[] {
    return this.#rules.problems;
  }

  /** False until the file was read, or found absent, for the first time: until then no entry of the folder may be journaled. */
  get isKnown(): boolean {
    return this.#text !== undefined;
  }

  /** Why the last read of the file failed, and what to do; undefined if it succeeded. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Reads the conflict copies of the file at `paths`; undefined for each that cannot be read now. */
  async readCopies(folder: Folder, paths: readonly string[]): Promise<readonly (string | undefined)[]> {
    const seen = await folder.observe(paths.map((path) => ({ path, bytesMax: ignoreFileBytesMax })));
    return seen.map(readingOf).map((reading) => (reading.state === 'rules' ? reading.text : undefined));
  }

  /** Reads the file. `isDamaged`: its bytes are damaged, so that they count as unreadable. */
  async read(folder: Folder, isDamaged: boolean): Promise<IgnoreReading> {
    const [seen] = await folder.observe([{ path: ignoreFileName, bytesMax: ignoreFileBytesMax }]);
    const reading = isDamaged
      ? fault('is damaged: wait until another member sends its content, or write the file again.')
      : readingOf(seen);
    this.#fault = reading.state === 'fault' ? `${reading.fault} ${this.#consequence}` : undefined;
    return reading;
  }

  /** The text of the rules in force. */
  get text(): string {
    return this.#text ?? '';
  }

  /** Whether `text` is already in force. */
  has(text: string): boolean {
    return this.#text === text;
  }

  /** True while rules that were read are not in force yet. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /**
   * Whether `text` may be taken. Rules that stop ignoring a path must have rested first: an editor that saves the file may leave it empty,
   * or without its last lines, for a moment, and files sent then cannot be recalled. `isContested`: the file has concurrent versions that
   * are not merged yet. `isRemoved`: the file existed here and is gone.
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

  /** The file is in force or cannot be read: no rules wait. */
  rests(): void {
    this.#waiting = undefined;
  }

  /** Puts the rules of `text` in force. */
  take(text: string): void {
    this.#waiting = undefined;
    this.#text = text;
    this.#rules = parseIgnoreRules(text);
  }

  get #consequence(): string {
    if (this.isKnown) return 'Until then the rules that were read last stay in force on this member.';
    return 'This member has never read any rules: until then it sends nothing of this folder to other members.';
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
      if (text === undefined)
        return fault('is not UTF-8 text, or has a NUL byte in it: save it as plain text in UTF-8.');
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
      return fault('changed while it was read: it is read again once it no longer changes.');
  }
}

const tooLong = `has more than ${ignoreFileBytesMax} bytes: shorten it.`;

/** The text of the bytes; undefined for another encoding than UTF-8, such as UTF-16, in which no rule would match. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Resolves once no rules wait to be in force, or once `giveUp` returns true. */
export async function untilRulesRest(
  { ignored, clock }: { readonly ignored: IgnoreFile; readonly clock: Clock },
  giveUp: () => boolean,
): Promise<void> {
  while (ignored.isWaiting && !giveUp()) {
    await new Promise<void>((resolve) => {
      clock.after(restingRetryMs, resolve);
    });
  }
}
