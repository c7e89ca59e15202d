import type { FastifyRequest } from 'fastify';
import type { GuardedRequest } from './guard.ts';

/** The parts of a request that the guard checks. */
export function guardedRequest(request: FastifyRequest): GuardedRequest {
  return {
    method: request.method,
    upgrade: request.raw.headers.upgrade !== undefined,
    headers: request.raw.headers,
    localAddress: request.raw.socket.localAddress,
  };
}
