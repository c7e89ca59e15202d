import type { FastifyRequest } from 'fastify';
import { HttpError } from '../errors.ts';
import type { Access } from './access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Who may use the route: `open`: everyone who reaches the address; `own`: only commands of the agent's user, through the socket; by
     * default also a browser that is logged in.
     */
    readonly access?: 'open' | 'own';
    /** Of a route with the access `own`: the command to run instead. */
    readonly command?: string;
  }
}

function isOwn(request: FastifyRequest, access: Access): boolean {
  return access.isOwnConnection(request.raw.socket);
}

/** True if everything that the member knows may be answered. */
export function mayRead(request: FastifyRequest, access: Access): boolean {
  return isOwn(request, access) || access.isLoggedIn(request.headers.cookie);
}

/** Throws `login-required` or `socket-only` if this request may not use its route. */
export function checkAccess(request: FastifyRequest, access: Access): void {
  const { access: needed, command } = request.routeOptions.config;
  // An address without a route gets the page or an error, with or without a login.
  if (needed === 'open' || request.is404 || isOwn(request, access)) return;
  if (needed === 'own') {
    const instead = command === undefined ? 'Use the socket .lockstep/api.sock of its folder.' : `Run: ${command}`;
    throw new HttpError(403, 'socket-only', `Only commands of the agent’s own user may do this. ${instead}`);
  }
  if (mayRead(request, access)) return;
  throw new HttpError(
    401,
    'login-required',
    'Only the user of this agent may read this. Run lockstep dashboard DIR as that user, where DIR is the folder of this member: it gives ' +
      'a link that logs a browser in. Programs need no login on the socket DIR/.lockstep/api.sock.',
  );
}
