import { type Command, Option } from 'commander';
import { configKeys } from '../config/config-keys.ts';
import type { ConfigText } from '../config/schema.ts';
import { UsageError } from './exit-code.ts';

/** Adds to `command` an option for every key of `config.toml` in `keys`; lists are given by repeating the option. */
export function addSettingOptions(
  command: Command,
  keys: readonly string[] = configKeys.map(({ key }) => key),
): Command {
  for (const key of configKeys.filter((candidate) => keys.includes(candidate.key))) {
    // The first line of the comment is a complete sentence, except for a final colon.
    const flags = key.isSwitch ? `--${key.flag}` : `--${key.flag} <${key.placeholder}>`;
    const option = new Option(flags, (key.comment[0] ?? '').replace(/:$/, '.'));
    if (key.list) {
      option.argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value]);
    }
    command.addOption(option);
  }
  return command;
}

/** The values of those options, by the keys' names in `config.toml`. Throws a UsageError for a value that is not allowed. */
export function settingsOf(command: Command): Readonly<Record<string, ConfigText | undefined>> {
  const options: Readonly<Record<string, unknown>> = command.opts();
  return Object.fromEntries(
    configKeys.map(({ key, flag, schema, allowed }) => {
      const name = flag.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
      const value = options[name] === true ? 'true' : options[name];
      if (value !== undefined && !schema.safeParse(value).success) {
        throw new UsageError(`--${flag} must be ${allowed}; it is ${JSON.stringify(value)}.`);
      }
      return [key, value as ConfigText | undefined];
    }),
  );
}
