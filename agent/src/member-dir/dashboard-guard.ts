import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import type { Config } from '../config/schema.ts';
import { shellWord } from '../os/shell-word.ts';
import { hasPassword } from './password-file.ts';
import { statePath } from './state-directory.ts';

/** The certificate and the key of the dashboard, in PEM. */
export interface DashboardTls {
  readonly cert: string;
  readonly key: string;
}

type GuardConfig = Pick<Config, 'dashboard' | 'dashboardGuard' | 'dashboardCertificate' | 'dashboardKey'>;

/** True for an address that only programs of this machine reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/**
 * The TLS of the dashboard, or undefined if it has none. Rejects with 'config-invalid' if other machines could reach the dashboard without
 * TLS or without a password.
 */
export async function guardDashboard(directory: string, config: GuardConfig): Promise<DashboardTls | undefined> {
  const tls = await readTls(directory, config);
  if (isLoopback(config.dashboard.host) || config.dashboardGuard === 'outside') return tls;
  const password = await hasPassword(directory);
  if (tls !== undefined && password) return tls;
  const missing = [
    ...(tls === undefined ? ['- a certificate: dashboard_certificate and dashboard_key in config.toml'] : []),
    ...(password ? [] : [`- a password: lockstep dashboard password ${shellWord(directory)}`]),
  ];
  throw new LockstepError(
    'config-invalid',
    `Other machines can reach the dashboard at ${config.dashboard.host}. For that it needs\n${missing.join('\n')}\n` +
      'Or set dashboard = "127.0.0.1:4800", and use a tunnel (ssh -L). If a proxy or a container guards the address: ' +
      'dashboard_guard = "outside".',
  );
}

async function readTls(directory: string, config: GuardConfig): Promise<DashboardTls | undefined> {
  const { dashboardCertificate, dashboardKey } = config;
  if (dashboardCertificate === '' && dashboardKey === '') return undefined;
  if (dashboardCertificate === '' || dashboardKey === '') {
    const absent = dashboardCertificate === '' ? 'dashboard_certificate' : 'dashboard_key';
    throw new LockstepError(
      'config-invalid',
      `TLS of the dashboard needs two files: set ${absent} in config.toml too.`,
    );
  }
  const read = (path: string): Promise<string> => {
    const file = resolve(statePath(directory), path);
    return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw new LockstepError('config-invalid', unreadableFile(file, cause.code), { cause });
    });
  };
  const tls = { cert: await read(dashboardCertificate), key: await read(dashboardKey) };
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LockstepError(
      'config-invalid',
      `dashboard_certificate and dashboard_key cannot be used (${reason}). Both must be PEM, and belong together.`,
      { cause },
    );
  }
  return tls;
}
