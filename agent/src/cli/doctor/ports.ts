import { once } from 'node:events';
import { createServer } from 'node:net';
import { formatHostPort, type HostPort, LockstepError, parseHostPort } from '@lockstep/shared';
import { guardDashboard, isLoopback } from '../../member-dir/dashboard-guard.ts';
import { hasPassword } from '../../member-dir/password-file.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import type { Subject } from './subject.ts';

const { ok, warn, fail } = resultsOf('ports');

const settings = '.lockstep/config.toml';

/** The code of the error that an attempt to listen there ends with; undefined if it succeeds. */
async function listenError({ host, port }: HostPort): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? String(cause);
  }
}

async function checkFree(key: string, wanted: HostPort): Promise<CheckResult> {
  const address = formatHostPort(wanted);
  switch (await listenError(wanted)) {
    case undefined:
      return ok(`${address} is free (${key}).`);
    case 'EADDRINUSE':
      return fail(
        `${address} is taken by another program (${key}).`,
        `Stop that program (ss -ltnp "sport = :${wanted.port}" names it), or give this member another port: ${key} in ${settings}.`,
      );
    case 'EACCES':
      return fail(
        `This user may not listen on ${address} (${key}).`,
        `Choose port 1024 or a higher one: ${key} in ${settings}.`,
      );
    default:
      return fail(
        `This machine has no address ${wanted.host} to listen on (${key}).`,
        `Name one that it has, or 0.0.0.0 for all: ${key} in ${settings}.`,
      );
  }
}

/** Compares the address of the running agent with the setting, which may have changed since its start. */
function checkOurs(key: string, wanted: HostPort, actual: string): CheckResult {
  const { host, port } = parseHostPort(actual) ?? { host: '', port: 0 };
  const isSame = (wanted.port === 0 || wanted.port === port) && wanted.host === host;
  if (isSame) return ok(`The agent listens on ${actual} (${key}).`);
  return warn(
    `The agent listens on ${actual}, and ${key} says ${formatHostPort(wanted)}.`,
    'Start the agent again to apply the setting, or correct it.',
  );
}

/** Checks that both ports are free, or used by this member's agent. */
export async function checkPorts({ config, running }: Subject): Promise<readonly CheckResult[]> {
  if (config === undefined) return [];
  const { listen, dashboard } = config;
  if (running === undefined) return [await checkFree('listen', listen), await checkFree('dashboard', dashboard)];
  if (running.status === undefined) return [];
  const { member } = running.status;
  return [
    checkOurs('listen', listen, member.address),
    checkOurs('dashboard', dashboard, new URL(member.dashboard).host),
  ];
}

/** Checks that strangers on other machines cannot use the dashboard. */
export async function checkExposure({ config, directory }: Subject): Promise<readonly CheckResult[]> {
  if (config === undefined) return [];
  const { host } = config.dashboard;
  try {
    await guardDashboard(directory, config);
    await hasPassword(directory);
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    const [detail = '', ...remedy] = error.message.split('\n');
    return [fail(detail, remedy.join('\n') || 'Correct it, and check again with: lockstep doctor')];
  }
  if (isLoopback(host)) return [];
  if (config.dashboardGuard === 'own') return [ok(`The dashboard on ${host} has TLS and a password.`)];
  return [
    warn(
      `The dashboard listens on ${host}, and dashboard_guard says that something outside guards it.`,
      'Check that it does.',
    ),
  ];
}
