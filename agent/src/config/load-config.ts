import { join } from 'node:path';
import { LockstepError, stateDirectoryName } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { parse, TomlError } from 'smol-toml';
import { readRegularFile } from '../os/regular-file.ts';
import { configKeys } from './config-keys.ts';
import { elementLine, keyLines } from './key-lines.ts';
import { lostText } from './lost-text.ts';
import type { Config, ConfigKey, ConfigText } from './schema.ts';

/** The source of a value in force; later kinds override earlier ones. */
export interface ConfigSource {
  readonly kind: 'default' | 'file' | 'environment' | 'flag';
  /** `config.toml:12`, `LOCKSTEP_LISTEN`, `--listen`; empty for a default. */
  readonly where: string;
}

/** One line of `lockstep config`. */
export interface ConfigEntry {
  readonly key: string;
  readonly value: ConfigText;
  readonly source: ConfigSource;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly entries: readonly ConfigEntry[];
}

/** The settings from the environment and the command line, flags by the key's name in `config.toml`. */
export interface ConfigOverrides {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, ConfigText | undefined>>;
}

/** A setting that is not allowed: another attempt without a change does not help. */
export class SettingsError extends LockstepError {
  constructor(message: string, options?: ErrorOptions) {
    super('config-invalid', message, options);
  }
}

interface FileValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly lines: ReadonlyMap<string, number>;
}

/** The path of a member's `config.toml`. */
export function configPath(directory: string): string {
  return join(directory, stateDirectoryName, 'config.toml');
}

function missing(path: string): string {
  return (
    `${path} is missing, and with it the addresses that this member listens on and dials. Put it back, or write a new one:\n` +
    '  lockstep config --write --name NAME --listen HOST:PORT --peer HOST:PORT'
  );
}

/** Throws if the file has lost its text. The defaults listen on every interface, which the user did not choose. */
function refuseLost(path: string, text: string): void {
  const what = lostText(text);
  if (what === undefined) return;
  throw new LockstepError(
    'config-invalid',
    `${path} ${what}, possibly after a power cut, and the addresses that this member listens on and dials are lost. Restore it ` +
      'from a backup, or write a new one:\n  lockstep config --write --name NAME --listen HOST:PORT --peer HOST:PORT',
  );
}

/** The text of the `config.toml` at `path`. Throws `config-invalid` if it is missing or cannot be read. */
export async function readConfigText(path: string): Promise<string> {
  try {
    return await readRegularFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // The defaults listen on every interface, and perhaps on another port than before, which the user did not choose.
    if (code === 'ENOENT') throw new LockstepError('config-invalid', missing(path), { cause });
    throw new LockstepError('config-invalid', unreadableFile(path, code), { cause });
  }
}

function parseConfigFile(path: string, text: string): FileValues {
  refuseLost(path, text);
  try {
    return { values: parse(text), text, lines: keyLines(text) };
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason] = cause.message.replace('Invalid TOML document: ', '').split('\n');
    throw new SettingsError(
      `${path}:${cause.line}: this is not valid TOML: ${reason}. Correct the line or remove it.`,
      { cause },
    );
  }
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

interface Given {
  readonly value: unknown;
  readonly source: ConfigSource;
  /** The start of a message about the value at a list's `index`. */
  at(index: number | undefined): string;
}

/** The value in force for `key`: flag, else environment, else file, else default. */
function given(key: ConfigKey, path: string, file: FileValues, overrides: ConfigOverrides): Given {
  const flag = overrides.flags?.[key.key];
  if (flag !== undefined) {
    const where = `--${key.flag}`;
    return { value: flag, source: { kind: 'flag', where }, at: () => where };
  }
  const env = overrides.env?.[key.environment];
  if (env !== undefined && env !== '') {
    const list = env
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    return {
      value: key.list ? list : env,
      source: { kind: 'environment', where: key.environment },
      at: () => `environment variable ${key.environment}`,
    };
  }
  const value = file.values[key.key];
  if (value !== undefined) {
    const line = file.lines.get(key.key) ?? 1;
    return {
      value,
      source: { kind: 'file', where: `config.toml:${line}` },
      at: (index) => {
        const element = index !== undefined && Array.isArray(value) ? value[index] : undefined;
        return `${path}:${element === undefined ? line : elementLine(file.text, line, element)}: ${key.key}`;
      },
    };
  }
  return { value: key.defaultText, source: { kind: 'default', where: '' }, at: () => `default of ${key.key}` };
}

/** The number of single-character edits that turn one word into the other (Levenshtein distance). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const replace = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** The candidate that `word` was probably meant to be, or undefined if none is near. */
function suggest(word: string, candidates: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_ ]/g, '');
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain(word), plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (best === undefined) return undefined;
  return best.distance <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : undefined;
}

function unknownKeys(path: string, file: FileValues): string[] {
  const names = configKeys.map(({ key }) => key);
  return Object.keys(file.values)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = suggest(name, names);
      const hint = near === undefined ? `The keys are ${names.join(', ')}.` : `Did you mean ${near}?`;
      return `${path}:${file.lines.get(name) ?? 1}: there is no key ${name}. ${hint}`;
    });
}

/**
 * Reads the settings in force for the member in `directory`: flags override the environment, that overrides `config.toml`, and that the
 * defaults. A missing file does not count as an empty one. All mistakes are collected into one SettingsError, each with its file and line
 * and the allowed values.
 */
export async function loadConfig(directory: string, overrides: ConfigOverrides = {}): Promise<LoadedConfig> {
  const path = configPath(directory);
  return configOf(path, await readConfigText(path), overrides);
}

/** The same for the file at `path` with this text. */
export function configOf(path: string, text: string, overrides: ConfigOverrides): LoadedConfig {
  const file = parseConfigFile(path, text);
  const mistakes = unknownKeys(path, file);
  const config: Record<string, unknown> = {};
  const entries: ConfigEntry[] = [];
  for (const key of configKeys) {
    const { value, source, at } = given(key, path, file, overrides);
    const result = key.schema.safeParse(value);
    if (!result.success) {
      const index = result.error.issues[0]?.path[0];
      const element = typeof index === 'number' && Array.isArray(value) ? value[index] : value;
      const where = at(typeof index === 'number' ? index : undefined);
      // These sentences are logged by service managers.
      const what = key.isSecret ? 'its value may be a secret and is not repeated here' : `it is ${show(element)}`;
      mistakes.push(`${where} must be ${key.allowed}; ${what}.`);
      continue;
    }
    config[key.field] = result.data;
    // TOML has booleans; elsewhere they are words.
    entries.push({ key: key.key, value: typeof value === 'boolean' ? String(value) : (value as ConfigText), source });
  }
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('\n'));
  // Every field has passed its schema or was counted as a mistake, so the record is complete here.
  return { config: config as unknown as Config, entries };
}
