import { configKeys } from './config-keys.ts';
import type { ConfigKey, ConfigText } from './schema.ts';

/** A value of a key as it is written in `config.toml`. */
export function literal({ isSwitch }: Pick<ConfigKey, 'isSwitch'>, value: ConfigText): string {
  if (isSwitch && typeof value === 'string') return value;
  return typeof value === 'string'
    ? JSON.stringify(value)
    : `[${value.map((part) => JSON.stringify(part)).join(', ')}]`;
}

/**
 * The text of a new `config.toml`: a comment and a line for every key. Keys without a given value are commented out and show the default.
 * So a later version can change a default that the user did not choose.
 */
export function configTemplate(values: Readonly<Record<string, ConfigText | undefined>>): string {
  const blocks = configKeys.map((key) => {
    const value = values[key.key];
    const line = `${key.key} = ${literal(key, value ?? key.defaultText)}`;
    return [...key.comment.map((text) => `# ${text}`), value === undefined ? `# ${line}` : line].join('\n');
  });
  const head = [
    '# Settings of this Lockstep member. They take effect at the next `lockstep up`.',
    '# An environment variable (LOCKSTEP_LISTEN, …) overrides this file, and an option of `lockstep up` overrides both;',
    '# `lockstep config` prints the settings in force and their sources.',
  ].join('\n');
  return `${[head, ...blocks].join('\n\n')}\n`;
}
