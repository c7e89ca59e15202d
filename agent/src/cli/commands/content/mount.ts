import { resolve } from 'node:path';
import { statusSchema, summarySchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { findMemberFolder, remoteCountersPath } from '../../../member-dir/state-directory.ts';
import { answerMsMax, watchAgent } from '../../../mount/agent-watch.ts';
import { loadFuse } from '../../../mount/fuse/fuse-mount.ts';
import { mountFolder } from '../../../mount/mount-folder.ts';
import { checkedMountPoint } from '../../../mount/mount-point.ts';
import { AgentFiles } from '../../../mount/remote/agent-files.ts';
import { shellWord } from '../../../os/shell-word.ts';
import { apiSocket, requireApi } from '../../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../../exit-code.ts';
import type { Terminal } from '../../output/terminal.ts';
import { stopSignal } from '../../stop-signal.ts';

/** Mounts the folder, and returns when it is not mounted any more. */
async function mount(terminal: Terminal, directory: string, mountPoint: string): Promise<ExitCode> {
  const folder = await findMemberFolder(resolve(terminal.cwd, directory));
  loadFuse();
  const api = await requireApi(folder);
  const point = await checkedMountPoint(resolve(terminal.cwd, mountPoint), folder);
  const { member, cache } = await api.get('/status', statusSchema);
  // Found again each time: an agent that starts again may have another socket.
  const ask = async (): Promise<unknown> => (await requireApi(folder)).get('/summary', summarySchema, answerMsMax);
  const watch = watchAgent(ask, (isUp) =>
    terminal.note(isUp ? 'The agent answers again.' : 'The agent does not answer: programs get errors until it does.'),
  );
  const stop = stopSignal();
  const say = (sentence: string): void => terminal.note(sentence);
  const remote =
    cache === undefined
      ? undefined
      : new AgentFiles({ socketPath: () => apiSocket(folder), countersPath: remoteCountersPath(folder), say });
  try {
    const mounted = await mountFolder({
      directory: folder,
      mountPoint: point,
      member: member.name,
      remote,
      isUp: watch.isUp,
      say,
    });
    terminal.print(`${folder} is mounted at ${point}. To unmount it: Ctrl-C, or fusermount3 -u ${shellWord(point)}`);
    await Promise.race([stop.received, mounted.removed]);
    await mounted.end();
  } finally {
    stop.dispose();
    watch.stop();
    remote?.close();
  }
  return exitCode.done;
}

/** `lockstep mount`: the folder as a file system, in which each file is published as one version. */
export function addMountCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('mount')
    .usage('[options] [DIR] MOUNTPOINT')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of the current directory)")
    .argument('[MOUNTPOINT]', 'an empty directory outside the folder')
    .description('mount the folder: what a program writes is published as one version when it closes the file')
    .action(async (first: string | undefined, second: string | undefined) => {
      // With one argument only, it is the mount point. Commander knows no optional argument before a required one.
      if (first === undefined) throw new UsageError('Name the mount point: lockstep mount [DIR] MOUNTPOINT');
      done(await (second === undefined ? mount(terminal, terminal.cwd, first) : mount(terminal, first, second)));
      // The library has threads and a handle that would keep the process alive.
      process.exit();
    });
}
