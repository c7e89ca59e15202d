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

/** Random secrets that this program gave out and that are still valid; `More` is the record of each. */
export class SecretSet<More extends object = object> {
  readonly #options: SecretOptions;
  #records: readonly (SecretRecord & More)[];

  constructor(options: SecretOptions, records: readonly (SecretRecord & More)[] = []) {
    this.#options = options;
    this.#records = records;
  }

  /** The valid secrets, the oldest first. */
  list(): readonly (SecretRecord & More)[] {
    const now = this.#options.nowMs();
    this.#records = this.#records.filter(({ expiresAt }) => expiresAt > now);
    return this.#records;
  }

  /** Makes a new secret. */
  issue(more: More): { readonly secret: string; readonly expiresAt: number } {
    const { bytes, lifetimeMs, max, nowMs } = this.#options;
    const secret = newSecret(bytes);
    const expiresAt = nowMs() + lifetimeMs;
    this.#records = [...this.list(), { ...more, hash: hashOf(secret), expiresAt }].slice(-max);
    return { secret, expiresAt };
  }

  /** The record of `secret`, if it is valid. */
  find(secret: string): (SecretRecord & More) | undefined {
    return this.list().find(({ hash }) => isSecretOf(hash, secret));
  }

  /** Ends the validity of `secret`. Returns whether it was valid. */
  take(secret: string): boolean {
    const found = this.find(secret);
    this.#records = this.#records.filter((record) => record !== found);
    return found !== undefined;
  }

  /** Ends the validity of the secrets with these records. */
  remove(records: readonly SecretRecord[]): void {
    this.#records = this.#records.filter((record) => !records.includes(record));
  }
}

/** A random secret, in base64url. */
export function newSecret(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** The hash of a secret, as it is stored. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** True if `hash` is that of `secret`. Compares in constant time: the time says nothing about a valid secret. */
export function isSecretOf(hash: string, secret: string): boolean {
  const [known, given] = [hash, hashOf(secret)].map((text) => Buffer.from(text, 'base64url'));
  return known !== undefined && given !== undefined && known.length === given.length && timingSafeEqual(known, given);
}
