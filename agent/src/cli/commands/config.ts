import type { Command } from 'commander';
import { configPath, loadConfig } from '../../config/load-config.ts';
import { findMemberFolder } from '../../state-directory.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { addSettingOptions, settingsOf } from '../setting-options.ts';
import { formatTable } from '../table.ts';
import { printJson, type Terminal } from '../terminal.ts';

async function printConfig(terminal: Terminal, directory: string, command: Command): Promise<ExitCode> {
  const { entries } = await loadConfig(directory, { env: terminal.env, flags: settingsOf(command) });
  if (command.opts().json === true) {
    printJson(terminal, { file: configPath(directory), settings: entries });
    return exitCode.done;
  }
  const rows = entries.map(({ key, value, source }) => [
    key,
    typeof value === 'string' ? value : value.length === 0 ? '(none)' : value.join(', '),
    terminal.paint('dim', source.kind === 'default' ? 'default' : source.where),
  ]);
  terminal.print(formatTable([{ title: 'KEY' }, { title: 'VALUE' }, { title: 'FROM' }], rows));
  terminal.print(`\nTo change a setting edit ${configPath(directory)} and start the agent again.`);
  return exitCode.done;
}

/** `lockstep config`: what is in force, and where each value is from. */
export function addConfigCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('config')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print the settings in force and where each is from')
    .option('--json', 'print JSON');
  addSettingOptions(command).action(async (directory: string) => {
    done(await printConfig(terminal, await findMemberFolder(directory), command));
  });
}
