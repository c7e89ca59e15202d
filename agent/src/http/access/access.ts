import type { Socket } from 'node:net';
import type { Log } from '../../sync/ports/log.ts';
import { PasswordAttempts } from './password-attempts.ts';
import { type SecretRecord, SecretSet } from './secret-set.ts';

/** How long a browser stays logged in. */
const sessionLifetimeMs = 90 * 86_400_000;

/** Browsers that are logged in at once. */
const sessionsMax = 64;

/** How long a link that logs a browser in works. */
const linkLifetimeMs = 10 * 60_000;

/** Links that work at once. */
const linksMax = 16;

/** Where the sessions outlive a restart of the agent. */
export interface SessionStore {
  load(): Promise<readonly SecretRecord[]>;
  save(sessions: readonly SecretRecord[]): Promise<void>;
}

export interface AccessOptions {
  readonly memberId: string;
  /** Without one a restart ends the sessions. */
  readonly store?: SessionStore | undefined;
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
 * Who may use the API. A connection through the Unix socket belongs to the agent's user, who alone may open it. A browser proves by a cookie
 * that a command of this user gave it a link.
 */
export class Access {
  /** Cookies do not distinguish ports: the name says which member on this host it is for. */
  readonly cookieName: string;
  readonly #options: AccessOptions;
  readonly #links: SecretSet;
  readonly #sessions: SecretSet;
  readonly #attempts: PasswordAttempts;
  readonly #ownConnections = new WeakSet<Socket>();
  #saving: Promise<void> = Promise.resolve();

  private constructor(options: AccessOptions, sessions: readonly SecretRecord[]) {
    const { memberId, nowMs } = options;
    this.#options = options;
    this.cookieName = `lockstep-${memberId}`;
    this.#attempts = new PasswordAttempts(nowMs);
    this.#links = new SecretSet({ bytes: 16, lifetimeMs: linkLifetimeMs, max: linksMax, nowMs });
    this.#sessions = new SecretSet({ bytes: 32, lifetimeMs: sessionLifetimeMs, max: sessionsMax, nowMs }, sessions);
  }

  static async open(options: AccessOptions): Promise<Access> {
    return new Access(options, (await options.store?.load()) ?? []);
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
    const { secret, expiresAt } = this.#links.issue();
    return { url: `${url}login?token=${secret}`, expiresAt };
  }

  /** The `Set-Cookie` for the browser that opened the link with `token`, or undefined if the link does not work (any more). */
  logIn(token: string): string | undefined {
    return this.#links.take(token) ? this.#newSession() : undefined;
  }

  /** Whether a password was set. */
  async hasPassword(): Promise<boolean> {
    return (await this.#options.password?.isSet()) ?? false;
  }

  /** The `Set-Cookie` for the browser that sent `password`; undefined if it is wrong, or the seconds until the next one may be tried. */
  async logInByPassword(
    password: string,
  ): Promise<{ readonly cookie: string | undefined } | { readonly waitS: number }> {
    const tried = await this.#attempts.try(async () => (await this.#options.password?.isRight(password)) ?? false);
    return 'waitS' in tried ? tried : { cookie: tried.isRight ? this.#newSession() : undefined };
  }

  /** True if the `Cookie` header holds a valid session. */
  isLoggedIn(cookies: string | undefined): boolean {
    const prefix = `${this.cookieName}=`;
    return (cookies ?? '')
      .split(';')
      .map((cookie) => cookie.trim())
      .some((cookie) => cookie.startsWith(prefix) && this.#sessions.has(cookie.slice(prefix.length)));
  }

  /** Resolves when the last change is stored. */
  flushed(): Promise<void> {
    return this.#saving;
  }

  /** The `Set-Cookie` of a new session. */
  #newSession(): string {
    const { secret } = this.#sessions.issue();
    this.#save();
    const maxAgeS = Math.floor(sessionLifetimeMs / 1_000);
    const secure = this.#options.isSecure === true ? '; Secure' : '';
    return `${this.cookieName}=${secret}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
  }

  #save(): void {
    const { store, log } = this.#options;
    const sessions = this.#sessions.list();
    this.#saving = this.#saving
      .then(() => store?.save(sessions))
      .catch((error: unknown) => {
        log.warn(
          { error: String(error) },
          'the sessions of the dashboard could not be stored: a restart will end them',
        );
      });
  }
}
