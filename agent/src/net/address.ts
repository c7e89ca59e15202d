import { isIPv6 } from 'node:net';
import { LockstepError } from '@lockstep/shared';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with an IPv6 address in brackets. An IPv4-mapped IPv6 address is shown as its IPv4 address. */
export function formatAddress({ host, port }: HostPort): string {
  const plain = host.startsWith('::ffff:') && host.includes('.') ? host.slice(7) : host;
  return isIPv6(plain) ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** Parses `host:port`. Throws `config-invalid` if `address` is not of that form. */
export function parseAddress(address: string): HostPort {
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^\s:/@?#[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port >= 1 && port <= 65_535)) {
    throw new LockstepError(
      'config-invalid',
      `"${address}" is not an address: write host:port, or [address]:port for IPv6.`,
    );
  }
  return { host, port };
}
