import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openingText, startUpText } from '@lockstep/shared/present';
import type { Command } from 'commander';
import type { Agent } from '../../agent.ts';
import { loadConfig } from '../../config/load-config.ts';
import { acquireLock } from '../../member-dir/instance-lock.ts';
import {
  checkStateDirectory,
  findMemberFolder,
  hideFromGit,
  recordPlace,
  statePath,
} from '../../member-dir/state-directory.ts';
import { shellWord } from '../../os/shell-word.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { newcomerSentence } from '../newcomer-files.ts';
import { memberLog } from '../output/member-log.ts';
import { StartProgress } from '../output/start-progress.ts';
import type { Terminal } from '../output/terminal.ts';
import { addSettingOptions, settingsOf } from '../setting-options.ts';
import { stopSignal } from '../stop-signal.ts';

async function up(terminal: Terminal, directory: string, command: Command): Promise<ExitCode> {
  const options: { adopt?: boolean; rejoin?: boolean; stopWithInput?: boolean } = command.opts();
  const { adopt = false, rejoin = false, stopWithInput = false } = options;
  const overrides = { env: terminal.env, flags: settingsOf(command) };
  const loaded = await loadConfig(directory, overrides);
  const { config } = loaded;
  const lock = await acquireLock(directory, terminal.nowMs());
  const signal = stopSignal(stopWithInput ? process.stdin : undefined);
  terminal.print(`member    ${config.name}\nfolder    ${directory}`);
  try {
    const origin = await checkStateDirectory(directory, { adopt });
    await hideFromGit(directory);
    const log = await memberLog(terminal, config);
    // It may be one of two members with the same journal.
    const isDoubtful = origin === 'adopted' || origin === 'damaged';
    if (origin === 'damaged') {
      const said = 'instance.json was damaged and is written again; this member continues under a new incarnation';
      log.warn({ directory }, said);
    } else if (origin !== 'same') log.warn({ directory, origin }, 'the state directory is at a new place');
    const isFirst = config.peers.length > 0 && !existsSync(join(statePath(directory), 'journal.db'));
    const sentence = isFirst ? await newcomerSentence(directory) : undefined;
    if (sentence !== undefined) terminal.print(sentence);
    const progress = new StartProgress(terminal, openingText);
    let agent: Agent | undefined;
    try {
      // Loaded here only: the other commands do not need it and start in half the time.
      const { startAgent } = await import('../../agent.ts');
      agent = await startAgent({ directory, loaded, overrides, log, adopted: isDoubtful, rejoin });
      // Not earlier: after a kill in between, the next start would continue under the old incarnation.
      if (isDoubtful) await recordPlace(directory);
      await lock.announce(agent);
      terminal.print(`listens   ${agent.address}\ndashboard ${agent.loginLink().url}`);
      terminal.print(linkHint(directory));
      const { ready, retired, startUp } = agent;
      progress.follow(() => startUpText(startUp()));
      const ended = Promise.race([signal.received, retired]).then(() => 'ended' as const);
      const outcome = await Promise.race([ready.then(() => 'ready' as const), ended]);
      progress.end();
      if (outcome === 'ready') {
        terminal.print('ready');
        await ended;
      }
    } finally {
      progress.end();
      await agent?.stop();
    }
    return exitCode.done;
  } finally {
    signal.dispose();
    await lock.release();
  }
}

/** A hint on the link that is printed at the start. */
function linkHint(directory: string): string {
  return `          It logs one browser in, within 10 minutes. For another: lockstep dashboard ${shellWord(directory)}`;
}

/** `lockstep up`: runs the agent in the foreground. */
export function addUpCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('up')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('run the agent in the foreground until SIGINT or SIGTERM; says what it does until it is ready')
    .option('--adopt', 'continue with a copied or restored state directory whose original is gone for good')
    .option('--rejoin', 'join again after `lockstep leave`');
  command.option('--stop-with-input', 'stop when the standard input ends, as after SIGTERM');
  addSettingOptions(command).action(async (directory: string) => {
    done(await up(terminal, await findMemberFolder(directory), command));
  });
}
