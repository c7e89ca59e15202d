import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../errors.ts';
import type { Access } from './access.ts';
import type { Session } from './sessions.ts';
import type { Token } from './tokens.ts';

/** The sender of a request: a command of the agent's own user, a browser that is logged in, a script with a token, or a stranger. */
export type Caller =
  | { readonly is: 'own' }
  | { readonly is: 'browser'; readonly session: Session }
  | { readonly is: 'script'; readonly token: Token }
  | { readonly is: 'stranger' };

/** Finds out who sent a request. Throws `login-required` or `too-many` for a wrong token: it is never the same as none. */
export function callerOf(request: FastifyRequest, reply: FastifyReply, access: Access): Caller {
  if (access.isOwnConnection(request.raw.socket)) return { is: 'own' };
  const [, given] = /^Bearer +(.*?) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (given !== undefined) return scriptWith(given, reply, access);
  const session = access.sessions.find(request.headers.cookie);
  if (session === undefined) return { is: 'stranger' };
  access.sessions.used(session);
  return { is: 'browser', session };
}

function scriptWith(given: string, reply: FastifyReply, access: Access): Caller {
  const checked = access.tokens.check(given);
  if ('waitS' in checked) {
    reply.header('retry-after', checked.waitS);
    throw new HttpError(429, { code: 'too-many', message: `Too many wrong tokens. Try again in ${checked.waitS} s.` });
  }
  const { token } = checked;
  if (token !== undefined) {
    access.tokens.used(token);
    return { is: 'script', token };
  }
  reply.header('www-authenticate', 'Bearer');
  throw new HttpError(401, {
    code: 'login-required',
    message:
      'The token is wrong, was removed or has expired. The user of this agent makes another one: lockstep token add NAME DIR, where DIR is ' +
      'the folder of this member.',
  });
}

/** True while the login or the token of a caller works. */
export function isValid(caller: Caller, { sessions, tokens }: Access): boolean {
  switch (caller.is) {
    case 'browser':
      return sessions.list().includes(caller.session);
    case 'script':
      return tokens.isValid(caller.token);
    default:
      return true;
  }
}
