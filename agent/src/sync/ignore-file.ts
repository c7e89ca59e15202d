import { type IgnoreRuleProblem, type IgnoreRules, ignoreFileName, parseIgnoreRules } from '../core/ignore-rules.ts';
import type { Folder } from './ports/folder.ts';

/** The ignore rules in force on this member. */
export class IgnoreFile {
  #text: string;
  #rules: IgnoreRules;

  /** `text`: the rules that were in force last. */
  constructor(text = '') {
    this.#text = text;
    this.#rules = parseIgnoreRules(text);
  }

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#rules.ignores(path, isDirectory);
  }

  /** The lines that are left out. */
  get problems(): readonly IgnoreRuleProblem[] {
    return this.#rules.problems;
  }

  /** The text of the file where it differs from what is in force. A missing file means no rules; one that cannot be read changes none. */
  async read(folder: Folder): Promise<string | undefined> {
    const [seen] = await folder.observe([{ path: ignoreFileName }]);
    if (seen === undefined || seen.state === 'problem' || seen.state === 'changing') return undefined;
    const text = seen.state === 'file' && seen.bytes ? new TextDecoder().decode(seen.bytes) : '';
    return text === this.#text ? undefined : text;
  }

  /** From here on the rules of `text` are in force. */
  take(text: string): void {
    this.#text = text;
    this.#rules = parseIgnoreRules(text);
  }
}
