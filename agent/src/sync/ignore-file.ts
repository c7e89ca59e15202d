import { type IgnoreRules, ignoreFileName, parseIgnoreRules } from '../core/ignore-rules.ts';
import type { Folder } from './ports/folder.ts';

/** The ignore rules in force on this member. */
export class IgnoreFile {
  #text = '';
  #rules: IgnoreRules = parseIgnoreRules('');

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#rules.ignores(path, isDirectory);
  }

  /** Reads the file again; true when the rules changed. A missing or unreadable file means no rules. */
  async reload(folder: Folder): Promise<boolean> {
    const [seen] = await folder.observe([{ path: ignoreFileName }]);
    const text = seen?.state === 'file' && seen.bytes ? new TextDecoder().decode(seen.bytes) : '';
    if (text === this.#text) return false;
    this.#text = text;
    this.#rules = parseIgnoreRules(text);
    return true;
  }
}
