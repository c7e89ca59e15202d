import { get, type IncomingMessage } from 'node:http';
import { get as getOverTls } from 'node:https';
import { formatHostPort, isAnyHost, parseHostPort } from '@lockstep/shared';
import { configKeys } from '../config/config-keys.ts';
import { exitCode } from './exit-code.ts';

/** The longest time for an answer. A container engine has its own timeout too; a probe that hangs must not outlive the next one. */
const answerTimeoutMs = 8_000;

/**
 * Asks the agent of this container whether it can do its work, and exits with 0 if so: the health check of the image. It finds the agent
 * from the environment alone, so that it costs no more than a start of Node every few seconds.
 */
function probe(): void {
  const dashboard = configKeys.find(({ key }) => key === 'dashboard');
  const text = process.env[dashboard?.environment ?? ''] ?? String(dashboard?.defaultText);
  const { host, port } = parseHostPort(text) ?? { host: '', port: 0 };
  const address = formatHostPort({ host: isAnyHost(host) ? '127.0.0.1' : host, port });
  const certificate = configKeys.find(({ field }) => field === 'dashboardCertificate');
  const isEncrypted = (process.env[certificate?.environment ?? ''] ?? '') !== '';
  const read = (answer: IncomingMessage): void => {
    answer.pipe(process.stdout);
    process.exitCode = answer.statusCode === 200 ? exitCode.done : exitCode.notDone;
  };
  // The certificate is for the names by which others know this machine.
  const request = isEncrypted
    ? getOverTls(`https://${address}/healthz`, { timeout: answerTimeoutMs, rejectUnauthorized: false }, read)
    : get(`http://${address}/healthz`, { timeout: answerTimeoutMs }, read);
  request.once('timeout', () => request.destroy(new Error(`no answer within ${answerTimeoutMs} ms`)));
  request.once('error', (error) => {
    console.error(`${address}: ${error.message}`);
    process.exitCode = exitCode.notDone;
  });
}

probe();
