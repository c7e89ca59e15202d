import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { configTemplate } from '../../config/config-template.ts';
import { configPath, loadConfig } from '../../config/load-config.ts';
import { lostText } from '../../config/lost-text.ts';
import { writeDurably } from '../../member-dir/durable-file.ts';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { readRegularFile } from '../../os/regular-file.ts';
import { defaultName } from '../default-name.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { formatTable } from '../output/table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';
import { addSettingOptions, settingsOf } from '../setting-options.ts';

/**
 * Writes the file of a member that lost it, with the given settings. A file with text is kept: it may hold settings that no one remembers.
 */
async function writeConfig(directory: string, command: Command): Promise<void> {
  const path = configPath(directory);
  const given = settingsOf(command);
  const found = await readRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new LockstepError('config-invalid', unreadableFile(path, cause.code), { cause });
  });
  if (found !== undefined && lostText(found) === undefined) {
    throw new UsageError(`${path} already exists: edit it, or move it away to have a new one written.`);
  }
  await writeDurably(path, configTemplate({ ...given, name: given.name ?? defaultName() }));
}

async function printConfig(terminal: Terminal, directory: string, command: Command): Promise<ExitCode> {
  const options: { write?: true; json?: true } = command.opts();
  if (options.write) await writeConfig(directory, command);
  const flags = options.write ? {} : settingsOf(command);
  const { entries } = await loadConfig(directory, { env: terminal.env, flags });
  if (options.json) {
    printJson(terminal, { file: configPath(directory), settings: entries });
    return exitCode.done;
  }
  const rows = entries.map(({ key, value, source }) => [
    key,
    typeof value === 'string' ? value : value.length === 0 ? '(none)' : value.join(', '),
    terminal.paint('dim', source.kind === 'default' ? 'default' : source.where),
  ]);
  terminal.print(formatTable([{ title: 'KEY' }, { title: 'VALUE' }, { title: 'FROM' }], rows));
  terminal.print(
    `\nTo change a setting, edit ${configPath(directory)} and start the agent again, or use Settings on the dashboard.`,
  );
  return exitCode.done;
}

/** `lockstep config`: prints the settings in force and their sources. */
export function addConfigCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('config')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print the settings in force and the source of each')
    .option('--write', 'first write a config.toml with the settings given here, for a member that lost its own')
    .option('--json', 'print JSON');
  addSettingOptions(command).action(async (directory: string) => {
    done(await printConfig(terminal, await findMemberFolder(directory), command));
  });
}
