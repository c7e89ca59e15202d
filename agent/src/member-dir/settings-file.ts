import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { LockstepError } from '@lockstep/shared';
import type { Setting, SettingChange, Settings } from '@lockstep/shared/api';
import { changeRules } from '../config/change-rules.ts';
import { configKeys } from '../config/config-keys.ts';
import { withSetting } from '../config/edit-setting.ts';
import {
  type ConfigOverrides,
  configOf,
  configPath,
  type LoadedConfig,
  readConfigText,
} from '../config/load-config.ts';
import type { Config, ConfigKey, ConfigText } from '../config/schema.ts';
import { errorCodeOf, isNoRoom } from '../os/system-error.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';

export interface SettingsFileOptions {
  readonly directory: string;
  /** The settings that the agent was started with. */
  readonly loaded: LoadedConfig;
  /** The options that override the file. */
  readonly overrides: ConfigOverrides;
  readonly log: Log;
  /** The notes on a setting, in addition to its value. */
  readonly notesOf: (key: string) => Pick<Setting, 'notes' | 'warning'>;
  /** Puts the settings in force whose change takes effect at once. */
  readonly apply: (config: Config) => void;
}

/** The result of a change; `outdated`: the file has another text than the change was made for, which `version` names. */
export type ChangeOutcome = { readonly is: 'changed' } | { readonly is: 'outdated'; readonly version: string };

/** The text of the file, or why there is none. */
type Reading =
  | { readonly text: string; readonly version: string; readonly mode: number; readonly problem?: string | undefined }
  | { readonly text?: undefined; readonly version: string; readonly problem: string };

/**
 * The settings of a running member, and their file. Only settings that can do no harm in the hands of a browser are changed here: see
 * `changeRules`. An edit by hand takes effect at the next start, as ever.
 */
export class SettingsFile {
  readonly #options: SettingsFileOptions;
  readonly #path: string;
  /** The values in force, by key. */
  readonly #inForce: Map<string, ConfigText>;
  #config: Config;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: SettingsFileOptions) {
    this.#options = options;
    this.#path = configPath(options.directory);
    this.#config = options.loaded.config;
    this.#inForce = new Map(options.loaded.entries.map(({ key, value }) => [key, value]));
  }

  async read(): Promise<Settings> {
    const { overrides, loaded, notesOf } = this.#options;
    const reading = await this.#read();
    let { problem } = reading;
    let { entries } = loaded;
    if (reading.text !== undefined) {
      try {
        ({ entries } = configOf(this.#path, reading.text, overrides));
      } catch (error) {
        problem = sentenceOf(error);
      }
    }
    const next = new Map(entries.map((entry) => [entry.key, entry]));
    const settings = configKeys.map((key): Setting => {
      const inForce = this.#inForce.get(key.key) ?? key.defaultText;
      const entry = next.get(key.key);
      const isSame = entry === undefined || problem !== undefined || textOf(entry.value) === textOf(inForce);
      return {
        ...{ key: key.key, about: key.comment.join(' '), allowed: key.allowed },
        ...changeRules[key.field],
        value: shown(key, inForce),
        ...(!isSame && { next: shown(key, entry.value) }),
        default: listed(key.defaultText),
        source: entry?.source ?? { kind: 'default', where: '' },
        ...notesOf(key.key),
        ...(key.choices && { choices: [...key.choices] }),
      };
    });
    return { file: this.#path, version: reading.version, ...(problem !== undefined && { problem }), settings };
  }

  /** Changes one setting in the file whose text `version` names. Throws a LockstepError if that is not possible or not allowed. */
  change(change: SettingChange, version: string): Promise<ChangeOutcome> {
    const result = this.#changes.then(() => this.#change(change, version));
    this.#changes = result.catch(() => undefined);
    return result;
  }

  async #change({ key: name, value }: SettingChange, version: string): Promise<ChangeOutcome> {
    const { overrides, log, apply } = this.#options;
    const key = changeable(name);
    const reading = await this.#read();
    if (reading.problem !== undefined) throw new LockstepError('config-invalid', reading.problem);
    const { text } = reading;
    if (text === undefined) throw new LockstepError('config-invalid', `${this.#path} has no text.`);
    if (reading.version !== version) return { is: 'outdated', version: reading.version };
    // A file with a mistake is for a person to correct: it may be half edited.
    refuseOverridden(key, configOf(this.#path, text, overrides));
    const edited = withSetting(text, key.key, value ?? undefined);
    const { config, entries } = configOf(this.#path, edited, overrides);
    await this.#write(edited, reading.mode);
    // Without the value: the log is kept where others may read it.
    log.info({ key: key.key }, 'a setting was changed through the API');
    if (changeRules[key.field].takesEffect === 'now') {
      // Other edits by hand take effect at the next start.
      this.#config = { ...this.#config, [key.field]: config[key.field] };
      apply(this.#config);
      const now = entries.find((entry) => entry.key === key.key)?.value;
      if (now !== undefined) this.#inForce.set(key.key, now);
    }
    return { is: 'changed' };
  }

  async #read(): Promise<Reading> {
    try {
      const entry = await lstat(this.#path).catch(() => undefined);
      const text = await readConfigText(this.#path);
      const problem = entry?.isSymbolicLink()
        ? `${this.#path} is a symbolic link, which a change would replace. Edit the file that it leads to.`
        : undefined;
      return { text, version: versionOf(text), mode: (entry?.mode ?? 0o600) & 0o777, problem };
    } catch (error) {
      return { version: versionOf(''), problem: sentenceOf(error) };
    }
  }

  async #write(text: string, mode: number): Promise<void> {
    try {
      await writeDurably(this.#path, text, mode);
    } catch (cause) {
      const code = errorCodeOf(cause);
      throw new LockstepError(
        'config-invalid',
        `${this.#path} cannot be written (${code}), and is as it was. ${isNoRoom(cause) ? 'Free some space.' : 'Check the rights to .lockstep, and the disk.'}`,
        { cause },
      );
    }
  }
}

/** The key of this name. Throws `request-invalid` if there is none, or if it is changed by hand only. */
function changeable(name: string): ConfigKey {
  const key = configKeys.find((each) => each.key === name);
  if (key === undefined) throw new LockstepError('request-invalid', `There is no setting ${JSON.stringify(name)}.`);
  const { takesEffect, effect } = changeRules[key.field];
  if (takesEffect !== 'by-hand') return key;
  throw new LockstepError('request-invalid', `${name} is changed in config.toml only. ${effect}`);
}

/** Throws `request-invalid` if the file does not decide on the setting. */
function refuseOverridden({ key }: ConfigKey, { entries }: LoadedConfig): void {
  const { kind, where } = entries.find((entry) => entry.key === key)?.source ?? { kind: 'default', where: '' };
  if (kind !== 'environment' && kind !== 'flag') return;
  const what = kind === 'flag' ? `the option ${where} of lockstep up` : `the environment variable ${where}`;
  throw new LockstepError(
    'request-invalid',
    `${key} is set by ${what}, which overrides config.toml: change it there, and start the agent again.`,
  );
}

function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function listed(value: ConfigText): string | string[] {
  return typeof value === 'string' ? value : [...value];
}

function textOf(value: ConfigText): string {
  return JSON.stringify(value);
}

/** The value for people. Of a secret only the host, or the program, without its arguments. */
function shown(key: ConfigKey, value: ConfigText): string | string[] {
  if (!key.isSecret || value.length === 0) return listed(value);
  if (typeof value === 'string') return `${new URL(value).origin}/…`;
  return value.length === 1 ? [...value] : [value[0] ?? '', '…'];
}

function sentenceOf(error: unknown): string {
  if (error instanceof LockstepError) return error.message;
  throw error;
}
