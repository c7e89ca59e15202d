import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from '../errors.ts';
import { expiryCheckMs } from '../limits.ts';
import type { Access } from './access.ts';
import { type Caller, callerOf } from './caller.ts';
import { OpenRequests } from './open-requests.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The callers that may use the route. `open`: everyone who reaches the address; `own`: only commands of the agent's user, through the
     * socket; `person`: also a browser that is logged in; by default also a script with a token.
     */
    readonly access?: 'open' | 'own' | 'person';
    /** Of a route with the access `own` or `person`: the command to run instead. */
    readonly command?: string;
    /** A route whose method is not GET or HEAD changes something, unless this says otherwise. A token for reading may use it then. */
    readonly changesNothing?: boolean;
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True if the answer may contain everything that the member knows. */
export function mayRead({ caller }: FastifyRequest): boolean {
  return caller.is !== 'stranger';
}

/**
 * Refuses requests whose sender may not use their route. Returns the requests under way, which end with the login or token that permits
 * them.
 */
export function checkAccess(app: FastifyInstance, access: Access): OpenRequests {
  const open = new OpenRequests(access);
  // The hook sets it before any route sees the request.
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    request.caller = callerOf(request, reply, access);
    checkRoute(request);
    open.add(request, reply, request.caller);
  });
  const expiry = setInterval(() => open.endInvalid(), expiryCheckMs);
  expiry.unref();
  app.addHook('onClose', async () => clearInterval(expiry));
  return open;
}

/** Throws `login-required`, `socket-only`, `person-only` or `read-only` if this request may not use its route. */
function checkRoute({ caller, routeOptions, is404, method }: FastifyRequest): void {
  const { access: needed, command, changesNothing } = routeOptions.config;
  // An address without a route gets the page or an error, with or without a login.
  if (needed === 'open' || is404 || caller.is === 'own') return;
  if (needed === 'own') {
    const instead = command === undefined ? 'Use the socket .lockstep/api.sock of its folder.' : `Run: ${command}`;
    throw new HttpError(403, {
      code: 'socket-only',
      message: `Only commands of the agent’s own user may do this. ${instead}`,
    });
  }
  switch (caller.is) {
    case 'browser':
      return;
    case 'script':
      if (needed === 'person') {
        throw new HttpError(403, {
          code: 'person-only',
          message: `Only a person may do this, not a script with a token. Run: ${command}`,
        });
      }
      if (!caller.token.isReadOnly || readingMethods.has(method) || changesNothing === true) return;
      throw new HttpError(403, {
        code: 'read-only',
        message: `The token ${caller.token.name} is for reading only, and this request changes something. Use one that was made without --read-only.`,
      });
    case 'stranger':
      throw new HttpError(401, {
        code: 'login-required',
        message:
          'Only the user of this agent may read this. Run lockstep dashboard DIR as that user, where DIR is the folder of this member: it ' +
          'gives a link that logs a browser in. Programs need no login on the socket DIR/.lockstep/api.sock, or a token: lockstep token add NAME DIR.',
      });
  }
}
