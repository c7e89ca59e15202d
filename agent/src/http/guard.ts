import type { IncomingHttpHeaders } from 'node:http';
import type { ApiErrorCode } from '@lockstep/shared/api';
import type { FastifyRequest } from 'fastify';

/** The parts of a request that the guard checks. */
export interface GuardedRequest {
  readonly method: string;
  readonly upgrade: boolean;
  readonly headers: IncomingHttpHeaders;
  /** The address of this machine that the connection came in on. */
  readonly localAddress: string | undefined;
}

/** The parts of a request of fastify. */
export function guardedRequest(request: FastifyRequest): GuardedRequest {
  return {
    method: request.method,
    upgrade: request.raw.headers.upgrade !== undefined,
    headers: request.raw.headers,
    localAddress: request.raw.socket.localAddress,
  };
}

export interface Refusal {
  readonly code: ApiErrorCode;
  readonly message: string;
}

const loopbackNames = new Set(['localhost', '127.0.0.1', '::1']);

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** `host` of a `host:port` or `[host]:port`, lower case and without brackets; undefined when it is neither. */
export function hostName(authority: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:@/?#\s]+))(?::\d{1,5})?$/i.exec(authority) ?? [];
  const name = bracketed ?? plain;
  return name?.toLowerCase().replace(/\.$/, '');
}

/** An address in lower case; an IPv4-mapped IPv6 address as IPv4. */
export function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:/i, '').toLowerCase();
}

/**
 * The reason to refuse a request, or undefined. Pages of other sites must not be able to use the API through a browser that can
 * reach it. Such a page has two ways. It can use a DNS name of its own that points here; then the Host header names that
 * site. Or it makes the browser send a cross-site request without reading the answer; then Origin or Sec-Fetch-Site shows it. Programs such
 * as curl send neither header.
 */
export function refusalOf(request: GuardedRequest, hostNames: ReadonlySet<string>): Refusal | undefined {
  const { host, origin } = request.headers;
  const name = host === undefined ? undefined : hostName(host);
  const known =
    name !== undefined &&
    (loopbackNames.has(name) || hostNames.has(name) || name === plainAddress(request.localAddress));
  if (!known) {
    return {
      code: 'forbidden-host',
      message: `This agent does not answer to the name ${JSON.stringify(host ?? '')}. Use the address that it listens on.`,
    };
  }
  const ofAnotherOrigin = origin !== undefined && authorityOf(origin) !== authorityOf(`http://${host}`);
  // A link on another site's page, which opens a document, is permitted: it has Sec-Fetch-Site and no Origin.
  const opensDocument =
    safeMethods.has(request.method) && !request.upgrade && request.headers['sec-fetch-dest'] === 'document';
  const site = request.headers['sec-fetch-site'];
  const fromAnotherSite = !opensDocument && site !== undefined && site !== 'same-origin' && site !== 'none';
  if (ofAnotherOrigin || fromAnotherSite) {
    return {
      code: 'forbidden-origin',
      message: `Pages of ${origin ?? 'another site'} may not use this agent. Open its own dashboard at http://${host}/ instead.`,
    };
  }
  return undefined;
}

/** Host and port of a URL, without the scheme's default port; undefined if it is not an HTTP URL (`null`, `file:`). */
function authorityOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? host : undefined;
}
