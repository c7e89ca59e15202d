/** An address to listen on or to dial. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const pattern = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([A-Za-z0-9._-]+)):([0-9]{1,5})$/;

/** Parses `host:port`, with an IPv6 address in brackets. Undefined if `text` is not of that form. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  if (port > 65_535) return undefined;
  return { host: match[1] ?? match[2] ?? '', port };
}

/** The inverse of `parseHostPort`. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const anyHosts = new Set(['0.0.0.0', '::', '[::]']);

/** True for the addresses that mean every interface of the machine: one can listen on them but not dial them. */
export function isAnyHost(host: string): boolean {
  return anyHosts.has(host);
}
