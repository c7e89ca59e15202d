import { formatHostPort, type HostPort, LockstepError, parseHostPort } from '@lockstep/shared';

/** `host:port` of a socket. An IPv4-mapped IPv6 address is shown as its IPv4 address. */
export function formatAddress({ host, port }: HostPort): string {
  const isMapped = host.startsWith('::ffff:') && host.includes('.');
  return formatHostPort({ host: isMapped ? host.slice(7) : host, port });
}

/** Parses the `host:port` of a member to dial. Throws `config-invalid` if `address` is not of that form. */
export function parseAddress(address: string): HostPort {
  const parsed = parseHostPort(address);
  if (parsed === undefined || parsed.port === 0) {
    throw new LockstepError(
      'config-invalid',
      `"${address}" is not an address: write host:port, or [address]:port for IPv6.`,
    );
  }
  return parsed;
}
