import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../testkit/eventually.ts';
import { freePort } from '../../testkit/free-port.ts';
import { run } from '../../testkit/programs.ts';
import { type Other, untilLevel } from './other.ts';
import { processorMsOf } from './process-tree.ts';

const key = 'bench';
/** Older versions only take whole seconds. */
const watcherDelaysS = [0.01, 1];

interface Device {
  readonly home: string;
  readonly folder: string;
  readonly id: string;
  readonly port: number;
  readonly apiPort: number;
}

/** Three instances of Syncthing on this machine that know only each other. `directory` is empty. */
export async function startSyncthing(program: string, directory: string): Promise<Other> {
  const devices: Device[] = [];
  for (const name of ['source', 'one', 'two']) {
    const [home, folder] = [join(directory, `${name}-home`), join(directory, name)];
    await mkdir(join(folder, '.stfolder'), { recursive: true });
    await mkdir(home);
    await run(program, ['generate', `--home=${home}`], { env: { STNODEFAULTFOLDER: '1' } });
    const id = (await run(program, [`--home=${home}`, '--device-id'])).trim();
    devices.push({ home, folder, id, port: await freePort(), apiPort: await freePort() });
  }
  for (const device of devices) await writeFile(join(device.home, 'config.xml'), configOf(device, devices));
  const children = devices.map(({ home }) => startOne(program, home));
  const other: Other = {
    name: 'syncthing',
    usesNetwork: true,
    source: devices[0]?.folder ?? '',
    targets: [devices[1]?.folder ?? '', devices[2]?.folder ?? ''],
    processorMs: async () => {
      const each = await Promise.all(children.map(({ child }) => processorMsOf(child.pid ?? 0)));
      return each.reduce((sum, ms) => sum + ms, 0);
    },
    close: async () => {
      for (const { child } of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ ended }) => ended));
    },
  };
  try {
    for (const device of devices) await watchAtOnce(device);
    await writeFile(join(other.source, 'first'), 'first');
    await untilLevel(other);
  } catch (error) {
    await other.close();
    throw error;
  }
  return other;
}

/** One process: the one that watches over it, and would survive it, is left out. */
function startOne(program: string, home: string): { child: ChildProcess; ended: Promise<unknown> } {
  const child = spawn(program, ['serve', `--home=${home}`, '--no-browser', '--no-restart'], {
    stdio: 'ignore',
    env: { ...process.env, STMONITORED: 'yes', STNOUPGRADE: '1' },
  });
  return { child, ended: once(child, 'exit') };
}

/** Sets the shortest delay of the watcher that this version takes. */
async function watchAtOnce({ apiPort }: Device): Promise<void> {
  const url = `http://127.0.0.1:${apiPort}/rest/config/folders/bench`;
  const headers = { 'X-API-Key': key };
  await eventually(async () => {
    if (!(await fetch(url, { headers })).ok) throw new Error('Syncthing is not ready');
  });
  for (const fsWatcherDelayS of watcherDelaysS) {
    const answer = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ fsWatcherDelayS }) });
    if (answer.ok) return;
  }
  throw new Error('Syncthing takes none of the delays of its watcher');
}

function configOf(own: Device, devices: readonly Device[]): string {
  return `<configuration version="36">
  <folder id="bench" path="${own.folder}" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="1">
    ${devices.map(({ id }) => `<device id="${id}"/>`).join('')}
  </folder>
  ${devices.map(({ id, port }) => `<device id="${id}"><address>tcp://127.0.0.1:${port}</address></device>`).join('\n  ')}
  <gui enabled="true" tls="false"><address>127.0.0.1:${own.apiPort}</address><apikey>${key}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${own.port}</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <crashReportingEnabled>false</crashReportingEnabled>
    <urAccepted>-1</urAccepted>
    <startBrowser>false</startBrowser>
    <setLowPriority>false</setLowPriority>
  </options>
</configuration>
`;
}
