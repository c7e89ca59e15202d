import { parseHostPort } from '@lockstep/shared';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.ts';
import type { ConfigText } from '../../config/schema.ts';
import { joinRecipe, thisMachine } from '../../member-dir/join-recipe.ts';
import { initStateDirectory } from '../../member-dir/state-directory.ts';
import { shellWord } from '../../os/shell-word.ts';
import { defaultName } from '../default-name.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { newcomerSentence } from '../newcomer-files.ts';
import { printJson, type Terminal } from '../output/terminal.ts';
import { addSettingOptions, settingsOf } from '../setting-options.ts';

async function init(terminal: Terminal, directory: string, command: Command): Promise<ExitCode> {
  const options: { clusterKeyFile?: string; json?: true } = command.opts();
  const given = settingsOf(command);
  if (given.peers !== undefined && options.clusterKeyFile === undefined) throw new UsageError(keyMissing(given.peers));
  const settings = { ...given, name: given.name ?? defaultName() };
  const made = await initStateDirectory({ directory, clusterKeyFile: options.clusterKeyFile, settings });
  if (options.json === true) {
    printJson(terminal, { ...made, name: settings.name });
    return exitCode.done;
  }
  const begins = made.newCluster ? ', and begins a new cluster' : '';
  terminal.print(`${made.directory} is now the folder of member ${settings.name} (${made.id.slice(0, 8)})${begins}.`);
  const sentence = made.newCluster ? undefined : await newcomerSentence(made.directory);
  if (sentence !== undefined) terminal.print(sentence);
  const start = directory === terminal.cwd ? 'lockstep up' : `lockstep up ${shellWord(directory)}`;
  terminal.print(`\nTo start it:\n  ${start}`);
  if (made.newCluster) {
    const { config } = await loadConfig(made.directory);
    const { lead, commands } = joinRecipe(made.directory, config, thisMachine());
    terminal.print(`\n${[lead, ...commands.map((command) => `  ${command}`)].join('\n')}`);
  }
  return exitCode.done;
}

/** A member without the key of its peers would begin a cluster of its own, and be refused by them. */
function keyMissing(peers: ConfigText): string {
  const { host = 'HOST' } = parseHostPort([peers].flat()[0] ?? '') ?? {};
  return (
    `--peer needs the key of that cluster. Copy it from there (scp ${host}:DIR/.lockstep/cluster.key .) and add ` +
    '--cluster-key-file cluster.key. To begin a new cluster, leave --peer out.'
  );
}

/** `lockstep init`: makes a folder the folder of a member. */
export function addInitCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('init')
    .argument('[DIR]', 'the folder to keep the same; it is made if it does not exist', terminal.cwd)
    .description('make a folder the folder of a new member: identity, settings and journal in DIR/.lockstep')
    .option('--cluster-key-file <FILE>', 'join the cluster with this key; without it a new cluster begins')
    .option('--json', 'print JSON');
  addSettingOptions(command).action(async (directory: string) => {
    done(await init(terminal, directory, command));
  });
}
