import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startHttp } from '../http/server.ts';
import { MadeUpAgent } from './made-up-agent.ts';

/**
 * `npm run show`: the real page and the real HTTP server over a made-up cluster of fifty, to look at what is hard to have for real. It
 * proves nothing: the browser tests run real agents.
 */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '4850' }, rate: { type: 'string', default: '5' } },
});
const quiet = () => undefined;
const agent = new MadeUpAgent(Number(values.rate));
const http = await startHttp({
  facade: agent,
  listen: { host: '127.0.0.1', port: Number(values.port) },
  assets: fileURLToPath(new URL('../../../dashboard/dist', import.meta.url)),
  log: { debug: quiet, info: quiet, warn: console.warn, error: console.error },
});
console.log(`A made-up cluster of fifty: ${http.url}\n${values.rate} operations a second (--rate N). Ctrl-C stops it.`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
agent.close();
await http.close();
