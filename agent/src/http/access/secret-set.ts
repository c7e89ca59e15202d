import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret that was given out: its hash, so that the record gives no one access. */
export interface SecretRecord {
  /** SHA-256 of the secret, in base64url. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SecretOptions {
  readonly bytes: number;
  readonly lifetimeMs: number;
  /** The most secrets that are valid at once: a new one replaces the oldest. */
  readonly max: number;
  readonly nowMs: () => number;
}

/** Random secrets that this program gave out and that are still valid. */
export class SecretSet {
  readonly #options: SecretOptions;
  #records: readonly SecretRecord[];

  constructor(options: SecretOptions, records: readonly SecretRecord[] = []) {
    this.#options = options;
    this.#records = records;
  }

  /** The valid secrets, the oldest first. */
  list(): readonly SecretRecord[] {
    const now = this.#options.nowMs();
    this.#records = this.#records.filter(({ expiresAt }) => expiresAt > now);
    return this.#records;
  }

  /** Makes a new secret. */
  issue(): { readonly secret: string; readonly expiresAt: number } {
    const { bytes, lifetimeMs, max, nowMs } = this.#options;
    const secret = randomBytes(bytes).toString('base64url');
    const expiresAt = nowMs() + lifetimeMs;
    const record = { hash: hashOf(secret).toString('base64url'), expiresAt };
    this.#records = [...this.list(), record].slice(-max);
    return { secret, expiresAt };
  }

  has(secret: string): boolean {
    return this.#find(secret) !== undefined;
  }

  /** Ends the validity of `secret`. Returns whether it was valid. */
  take(secret: string): boolean {
    const found = this.#find(secret);
    this.#records = this.#records.filter((record) => record !== found);
    return found !== undefined;
  }

  clear(): void {
    this.#records = [];
  }

  /** Compares hashes of equal length in constant time: the time says nothing about a valid secret. */
  #find(secret: string): SecretRecord | undefined {
    const given = hashOf(secret);
    return this.list().find(({ hash }) => {
      const known = Buffer.from(hash, 'base64url');
      return known.length === given.length && timingSafeEqual(known, given);
    });
  }
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
