import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Access } from '../../http/access/access.ts';
import { startHttp } from '../../http/server.ts';
import { openOffice } from './office.ts';
import { startWork } from './office-work.ts';
import { servedMember } from './served-member.ts';

/**
 * `npm run show`: the real page for fifty simulated members in real time, for states that are hard to reach on one machine. Each member
 * runs the real engine; disks, clocks and network are simulated.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4850' },
    rate: { type: 'string', default: '1' },
    'stop-with-input': { type: 'boolean', default: false },
  },
});
const cluster = await openOffice(console.error);
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: console.warn, error: console.error };
const member = servedMember(cluster.machine('ant'), cluster.machines);
const http = await startHttp({
  member,
  listen: { host: '127.0.0.1', port: Number(values.port) },
  assets: fileURLToPath(new URL('../../../../dashboard/dist', import.meta.url)),
  access: await Access.open({ memberId: member.engine.context.self.id, nowMs: Date.now, log }),
  log,
});
startWork(cluster, Number(values.rate));
cluster.begin();
console.log(
  `Fifty simulated members: ${http.loginLink().url}\n${values.rate} changes a second (--rate N). Ctrl-C stops it.`,
);
const ends = [once(process, 'SIGINT'), once(process, 'SIGTERM')];
// The input ends with the program that started this one, also if that was killed.
if (values['stop-with-input']) ends.push(once(process.stdin.resume(), 'end'));
await Promise.race(ends);
await http.close();
await cluster.close();
