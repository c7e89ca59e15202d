import { LockstepError } from '@lockstep/shared';
import type { Log } from '../../sync/ports/log.ts';
import { Attempts } from './attempts.ts';
import { hashOf, isSecretOf, newSecret } from './secret-set.ts';
import { type RecordStore, StoredList } from './stored-list.ts';

/** The most tokens at once, expired ones included. */
const tokensMax = 64;

/** A token: a word by which people and scanners of secrets know it, the name of its record, and the secret. */
const tokenForm = /^lockstep_([0-9a-f]{8})_([\w-]{43})$/;

/** The record of a token for a script. */
export interface Token {
  /** The middle part of the token. It gives no one access. */
  readonly id: string;
  readonly name: string;
  readonly isReadOnly: boolean;
  /** SHA-256 of the secret, in base64url. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  lastUsedAt: number | null;
}

export interface TokenOptions {
  readonly store: RecordStore<Token> | undefined;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** The tokens by which scripts use the API. */
export class Tokens {
  readonly #nowMs: () => number;
  readonly #stored: StoredList<Token>;
  /** The attempts with wrong secrets, by the id of the claimed token; under '' those without a known token. */
  readonly #attempts = new Map<string, Attempts>();
  #tokens: readonly Token[];

  private constructor({ store, nowMs, log }: TokenOptions, tokens: readonly Token[]) {
    this.#nowMs = nowMs;
    this.#tokens = tokens;
    this.#stored = new StoredList<Token>({ store, records: () => this.#tokens, what: 'The tokens', nowMs, log });
  }

  static async open(options: TokenOptions): Promise<Tokens> {
    return new Tokens(options, (await options.store?.load()) ?? []);
  }

  /** All tokens, the oldest first, those that have expired too. */
  list(): readonly Token[] {
    return this.#tokens;
  }

  isValid(token: Token): boolean {
    return this.#tokens.includes(token) && (token.expiresAt === null || token.expiresAt > this.#nowMs());
  }

  /** Makes a token. Resolves with it when it is stored; rejects with `request-invalid` if there is one of that name. */
  async add(
    name: string,
    isReadOnly: boolean,
    lifetimeMs: number | undefined,
  ): Promise<{ text: string; token: Token }> {
    if (this.#tokens.some((token) => token.name === name)) {
      const remedy = `Choose another name, or remove that one first: lockstep token remove ${name}`;
      throw new LockstepError('request-invalid', `There is a token ${name} already. ${remedy}`);
    }
    if (this.#tokens.length >= tokensMax) {
      const remedy = 'Remove one first: lockstep token list, lockstep token remove NAME';
      throw new LockstepError('request-invalid', `There are ${tokensMax} tokens, and no more are possible. ${remedy}`);
    }
    const id = Buffer.from(newSecret(4), 'base64url').toString('hex');
    const secret = newSecret(32);
    const since = this.#nowMs();
    const expiresAt = lifetimeMs === undefined ? null : since + lifetimeMs;
    const token = { id, name, isReadOnly, hash: hashOf(secret), since, expiresAt, lastUsedAt: null };
    this.#tokens = [...this.#tokens, token];
    try {
      await this.#stored.save('No token was made.');
    } catch (cause) {
      this.#tokens = this.#tokens.filter((other) => other !== token);
      throw cause;
    }
    return { text: `lockstep_${id}_${secret}`, token };
  }

  /** Removes a token at once. Resolves when a restart will not bring it back, with whether there was one. */
  async remove(name: string): Promise<boolean> {
    const found = this.#tokens.find((token) => token.name === name);
    if (found === undefined) return false;
    this.#tokens = this.#tokens.filter((token) => token !== found);
    this.#attempts.delete(found.id);
    await this.#stored.save('It is removed, but a restart of the agent brings it back.');
    return true;
  }

  /**
   * The token of this text, undefined if it is wrong, or the seconds until the next one may be tried. A wrong secret delays the next one of
   * the same id. Only holders of the token know its id: others cannot shut out a script by wrong tokens.
   */
  check(text: string): { readonly token: Token | undefined } | { readonly waitS: number } {
    const [, id, secret = ''] = tokenForm.exec(text) ?? [];
    const known = this.#tokens.find((token) => token.id === id);
    const attempts = this.#attemptsOf(known?.id ?? '');
    const waitS = attempts.waitS();
    if (waitS !== undefined) return { waitS };
    const isRight = known !== undefined && isSecretOf(known.hash, secret) && this.isValid(known);
    attempts.add(isRight);
    return { token: isRight ? known : undefined };
  }

  /** Records that a token was used. */
  used(token: Token): void {
    token.lastUsedAt = this.#nowMs();
    this.#stored.used();
  }

  /** Resolves when everything is stored. */
  flushed(): Promise<void> {
    return this.#stored.flushed();
  }

  #attemptsOf(id: string): Attempts {
    const attempts = this.#attempts.get(id) ?? new Attempts(this.#nowMs);
    this.#attempts.set(id, attempts);
    return attempts;
  }
}
