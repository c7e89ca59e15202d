import type { Socket } from 'node:net';
import type { Log } from '../../sync/ports/log.ts';
import { Attempts } from './attempts.ts';
import { SecretSet } from './secret-set.ts';
import { type Browser, type Session, Sessions } from './sessions.ts';
import type { RecordStore } from './stored-list.ts';
import { type Token, Tokens } from './tokens.ts';

/** The validity of a link that logs a browser in. */
const linkLifetimeMs = 10 * 60_000;

/** The most links that are valid at once. */
const linksMax = 16;

export interface AccessOptions {
  readonly memberId: string;
  /** The stores in which the sessions of browsers and the tokens of scripts outlive the agent. Without them a restart ends these. */
  readonly sessionStore?: RecordStore<Session> | undefined;
  readonly tokenStore?: RecordStore<Token> | undefined;
  /** The password, if one can be set. */
  readonly password?: PasswordCheck | undefined;
  /** True if the cookie is to be sent over TLS only. */
  readonly isSecure?: boolean | undefined;
  readonly nowMs: () => number;
  readonly log: Log;
}

export interface PasswordCheck {
  isSet(): Promise<boolean>;
  isRight(password: string): Promise<boolean>;
}

/** A link that logs one browser in, once. */
export interface LoginLink {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Decides which callers may use the API. A connection through the Unix socket belongs to the agent's user, who alone may open it. A browser
 * proves by a cookie that a command of this user gave it a link, and a script by a token.
 */
export class Access {
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly #password: PasswordCheck | undefined;
  readonly #links: SecretSet;
  readonly #attempts: Attempts;
  readonly #ownConnections = new WeakSet<Socket>();

  private constructor({ password, nowMs }: AccessOptions, sessions: Sessions, tokens: Tokens) {
    this.sessions = sessions;
    this.tokens = tokens;
    this.#password = password;
    this.#attempts = new Attempts(nowMs);
    this.#links = new SecretSet({ bytes: 16, lifetimeMs: linkLifetimeMs, max: linksMax, nowMs });
  }

  static async open(options: AccessOptions): Promise<Access> {
    const { memberId, sessionStore, tokenStore, isSecure = false, nowMs, log } = options;
    const sessions = await Sessions.open({ memberId, store: sessionStore, isSecure, nowMs, log });
    return new Access(options, sessions, await Tokens.open({ store: tokenStore, nowMs, log }));
  }

  /** Marks a connection as one through the Unix socket. */
  addOwnConnection(socket: Socket): void {
    this.#ownConnections.add(socket);
  }

  isOwnConnection(socket: Socket): boolean {
    return this.#ownConnections.has(socket);
  }

  /** Makes a link for the dashboard at `url`. */
  loginLink(url: string): LoginLink {
    const { secret, expiresAt } = this.#links.issue({});
    return { url: `${url}login?token=${secret}`, expiresAt };
  }

  /** The `Set-Cookie` for the browser that opened the link with `token`, or undefined if the link does not work (any more). */
  logIn(token: string, browser: Browser = {}): string | undefined {
    return this.#links.take(token) ? this.sessions.begin(browser) : undefined;
  }

  /** Whether a password was set. */
  async hasPassword(): Promise<boolean> {
    return (await this.#password?.isSet()) ?? false;
  }

  /** The `Set-Cookie` for the browser that sent `password`; undefined if it is wrong, or the seconds until the next one may be tried. */
  async logInByPassword(
    password: string,
    browser: Browser = {},
  ): Promise<{ readonly cookie: string | undefined } | { readonly waitS: number }> {
    const tried = await this.#attempts.try(async () => (await this.#password?.isRight(password)) ?? false);
    return 'waitS' in tried ? tried : { cookie: tried.isRight ? this.sessions.begin(browser) : undefined };
  }

  /** Resolves when everything is stored. */
  async flushed(): Promise<void> {
    await Promise.all([this.sessions.flushed(), this.tokens.flushed()]);
  }
}
