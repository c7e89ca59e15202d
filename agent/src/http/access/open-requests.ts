import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from './access.ts';
import { type Caller, isValid } from './caller.ts';

/** The requests and live streams under way of browsers and scripts. They end with the login or the token that permits them. */
export class OpenRequests {
  readonly #access: Access;
  readonly #open = new Map<FastifyRequest, Caller>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** Follows a request until it ends. */
  add(request: FastifyRequest, reply: FastifyReply, caller: Caller): void {
    if (caller.is === 'own' || caller.is === 'stranger') return;
    this.#open.set(request, caller);
    // A live stream has no answer: it ends with its connection.
    const isStream = request.raw.headers.upgrade !== undefined;
    const end = isStream ? request.raw.socket : reply.raw;
    end.once('close', () => this.#open.delete(request));
  }

  /** Ends the requests whose login or token is no longer valid, except `answered`, whose answer is still to be sent. */
  endInvalid(answered?: FastifyRequest): void {
    for (const [request, caller] of this.#open) {
      if (request !== answered && !isValid(caller, this.#access)) request.raw.socket.destroy();
    }
  }
}
