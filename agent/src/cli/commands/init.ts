import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.ts';
import { clusterKeyPath, initStateDirectory } from '../../member-dir/state-directory.ts';
import { shellWord } from '../../shell-word.ts';
import { defaultName } from '../default-name.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { newcomerSentence } from '../newcomer-files.ts';
import { addSettingOptions, settingsOf } from '../setting-options.ts';
import { printJson, type Terminal } from '../terminal.ts';

async function init(terminal: Terminal, directory: string, command: Command): Promise<ExitCode> {
  const options: { clusterKeyFile?: string; json?: true } = command.opts();
  const given = settingsOf(command);
  const settings = { ...given, name: given.name ?? defaultName() };
  const made = await initStateDirectory({ directory, clusterKeyFile: options.clusterKeyFile, settings });
  if (options.json === true) {
    printJson(terminal, { ...made, name: settings.name });
    return exitCode.done;
  }
  terminal.print(`${made.directory} is now the folder of member ${settings.name} (${made.id.slice(0, 8)}).`);
  if (made.newCluster) {
    const { config } = await loadConfig(made.directory);
    terminal.print(
      `It begins a new cluster. To let another machine join, copy ${clusterKeyPath(made.directory)} there over a secure channel and run\n` +
        `  lockstep init DIR --cluster-key-file cluster.key --peer THIS_MACHINE:${config.listen.port}`,
    );
  }
  const sentence = made.newCluster ? undefined : await newcomerSentence(made.directory);
  if (sentence !== undefined) terminal.print(sentence);
  terminal.print(`Start it: lockstep up ${directory === terminal.cwd ? '' : shellWord(directory)}`.trimEnd());
  return exitCode.done;
}

/** `lockstep init`: makes a folder the folder of a member. */
export function addInitCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('init')
    .argument('[DIR]', 'the folder to keep the same', terminal.cwd)
    .description('make a folder the folder of a new member: identity, settings and journal in DIR/.lockstep')
    .option('--cluster-key-file <FILE>', 'join the cluster with this key; without it a new cluster begins')
    .option('--json', 'print JSON');
  addSettingOptions(command).action(async (directory: string) => {
    done(await init(terminal, directory, command));
  });
}
