import type { Log } from '../../sync/ports/log.ts';
import { type SecretRecord, SecretSet } from './secret-set.ts';
import { type RecordStore, StoredList } from './stored-list.ts';

/** The time for which a browser stays logged in. */
const sessionLifetimeMs = 90 * 86_400_000;

/** The most browsers that are logged in at once. */
const sessionsMax = 64;

/** The most characters of a browser's self-description that are kept. */
const agentCharactersMax = 300;

/** The browser of a login. */
export interface Browser {
  /** Its address, as the connection had it. */
  readonly address?: string | undefined;
  /** Its description of itself: the header `User-Agent`. */
  readonly agent?: string | undefined;
}

/** The login of one browser. */
export interface Session extends SecretRecord, Browser {
  /** Milliseconds since the epoch. Absent from a session of an earlier version. */
  readonly since?: number | undefined;
  lastUsedAt?: number | undefined;
}

type SessionDetails = Omit<Session, keyof SecretRecord>;

export interface SessionOptions {
  readonly memberId: string;
  readonly store: RecordStore<Session> | undefined;
  /** True if the cookie is to be sent over TLS only. */
  readonly isSecure: boolean;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** The browsers that are logged in, each by a cookie. */
export class Sessions {
  readonly #options: SessionOptions;
  /** Cookies do not distinguish ports: the name says which member on this host it is for. */
  readonly #cookieName: string;
  readonly #records: SecretSet<SessionDetails>;
  readonly #stored: StoredList<Session>;

  private constructor(options: SessionOptions, sessions: readonly Session[]) {
    const { memberId, store, nowMs, log } = options;
    this.#options = options;
    this.#cookieName = `lockstep-${memberId}`;
    this.#records = new SecretSet({ bytes: 32, lifetimeMs: sessionLifetimeMs, max: sessionsMax, nowMs }, sessions);
    const what = 'The logins of browsers';
    this.#stored = new StoredList<Session>({ store, records: () => this.list(), what, nowMs, log });
  }

  static async open(options: SessionOptions): Promise<Sessions> {
    return new Sessions(options, (await options.store?.load()) ?? []);
  }

  /** The valid sessions, the oldest first. */
  list(): readonly Session[] {
    return this.#records.list();
  }

  /** Begins a session and returns its `Set-Cookie`. */
  begin({ address, agent }: Browser): string {
    const now = this.#options.nowMs();
    const { secret } = this.#records.issue({
      address,
      agent: agent?.slice(0, agentCharactersMax),
      since: now,
      lastUsedAt: now,
    });
    this.#stored.saveSoon('A restart of the agent ends this one.');
    return this.#cookie(secret, Math.floor(sessionLifetimeMs / 1_000));
  }

  /** The session that a `Cookie` header holds, if it is valid. */
  find(cookies: string | undefined): Session | undefined {
    const prefix = `${this.#cookieName}=`;
    for (const cookie of (cookies ?? '').split(';')) {
      const text = cookie.trim();
      const session = text.startsWith(prefix) ? this.#records.find(text.slice(prefix.length)) : undefined;
      if (session !== undefined) return session;
    }
    return undefined;
  }

  /** Records that a session was used. */
  used(session: Session): void {
    session.lastUsedAt = this.#options.nowMs();
    this.#stored.used();
  }

  /** Ends sessions at once. Resolves when a restart will not bring them back. */
  end(sessions: readonly Session[]): Promise<void> {
    this.#records.remove(sessions);
    return this.#stored.save('They are ended, but a restart of the agent brings them back.');
  }

  /** The `Set-Cookie` that removes the cookie from a browser. */
  get withdrawal(): string {
    return this.#cookie('', 0);
  }

  /** Resolves when everything is stored. */
  flushed(): Promise<void> {
    return this.#stored.flushed();
  }

  #cookie(value: string, maxAgeS: number): string {
    const secure = this.#options.isSecure ? '; Secure' : '';
    return `${this.#cookieName}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
  }
}

/** The public name of a session: the beginning of its hash, which gives no one access. */
export function sessionId({ hash }: Session): string {
  return Buffer.from(hash, 'base64url').toString('hex').slice(0, 8);
}
