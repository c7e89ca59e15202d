import { isIPv6 } from 'node:net';
import { LockstepError } from '@lockstep/shared';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with an IPv6 address in brackets. IPv4 addresses that a socket shows as IPv6 ones are shown as what they are. */
export function formatAddress({ host, port }: HostPort): string {
  const plain = host.startsWith('::ffff:') && host.includes('.') ? host.slice(7) : host;
  return isIPv6(plain) ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** Takes `host:port` apart. */
export function parseAddress(address: string): HostPort {
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^\s:/@?#[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port >= 1 && port <= 65_535)) {
    throw new LockstepError(
      'config-invalid',
      `"${address}" is no address: write host:port, or [address]:port for IPv6.`,
    );
  }
  return { host, port };
}
