import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../testkit/eventually.ts';
import { run } from '../../testkit/programs.ts';
import { type Other, untilLevel } from './other.ts';
import { processorMsOf } from './process-tree.ts';

const volume = 'bench';

/**
 * A volume of GlusterFS with three replicas: three bricks on this machine, and three mounts of it. `program` is its command line, next to
 * which glusterd and glusterfs are searched; `directory` is empty. It needs root, /dev/fuse and the port 24007, to which bricks connect.
 */
export async function startGluster(program: string, directory: string): Promise<Other> {
  const beside = (name: string): string => (program.includes('/') ? join(dirname(program), name) : name);
  const folders = ['source', 'one', 'two'].map((name) => join(directory, name)) as [string, string, string];
  const bricks = folders.map((folder) => `${folder}-brick`);
  const [work, socket] = [join(directory, 'work'), join(directory, 'socket')];
  for (const path of [work, join(directory, 'log', 'bricks'), ...folders, ...bricks]) {
    await mkdir(path, { recursive: true });
  }
  const config = join(directory, 'glusterd.vol');
  await writeFile(config, configOf(directory, work, socket));
  const manager = spawn(beside('glusterd'), ['-N', '-f', config, '-l', join(directory, 'log', 'glusterd')], {
    stdio: 'ignore',
  });
  const gluster = (...args: string[]): Promise<string> =>
    run(program, [
      '--mode=script',
      `--glusterd-sock=${socket}`,
      `--log-file=${join(directory, 'log', 'cli')}`,
      ...args,
    ]);
  const close = async (): Promise<void> => {
    for (const folder of folders) await run('umount', ['--lazy', folder]).catch(() => undefined);
    // The volume does not exist if the start has failed.
    for (const step of [
      ['stop', volume, 'force'],
      ['delete', volume],
    ]) {
      await gluster('volume', ...step).catch(() => undefined);
    }
    await end(manager);
    for (const pid of await processesOf(directory)) process.kill(pid, 'SIGKILL');
  };
  const other: Other = {
    name: 'gluster',
    usesNetwork: true,
    source: folders[0],
    targets: [folders[1], folders[2]],
    processorMs: async () => {
      const each = await Promise.all((await processesOf(directory)).map(processorMsOf));
      return each.reduce((sum, ms) => sum + ms, 0);
    },
    close,
  };
  try {
    await eventually(() => gluster('volume', 'list'));
    const places = bricks.map((brick) => `${hostname()}:${brick}`);
    // All replicas are on one machine, and on its root file system: both need `force`.
    await gluster('volume', 'create', volume, 'replica', '3', ...places, 'force');
    await gluster('volume', 'start', volume);
    for (const folder of folders) {
      const log = `--log-file=${join(directory, 'log', 'mounts')}`;
      await run(beside('glusterfs'), [`--volfile-server=${hostname()}`, `--volfile-id=${volume}`, log, folder]);
    }
    await writeFile(join(other.source, 'first'), 'first');
    await untilLevel(other);
  } catch (error) {
    await close();
    throw error;
  }
  return other;
}

const configOf = (directory: string, work: string, socket: string): string => `volume management
  type mgmt/glusterd
  option working-directory ${work}
  option run-directory ${work}
  option logging-directory ${join(directory, 'log')}
  option glusterd-sockfile ${socket}
  option transport-type socket
  option transport.address-family inet
  option transport.socket.listen-port 24007
end-volume
`;

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The processes with this directory in their command line: the bricks and the mounts leave the process that starts them. */
async function processesOf(directory: string): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (/^[^\0]*gluster/.test(command) && command.includes(directory)) pids.push(Number(name));
  }
  return pids;
}
