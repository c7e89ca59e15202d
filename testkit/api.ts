import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  apiPrefix,
  loginLinkSchema,
  type Status,
  statusSchema,
  type VerifyResult,
  verifyResultSchema,
  type WaitResult,
  waitResultSchema,
} from '@lockstep/shared/api';
import { ask, cookieFrom, patience } from './http.ts';
import { readTree, type Tree } from './tree.ts';

/** The resources of its machine that an agent uses. */
export interface Usage {
  readonly memoryMiB: number;
  readonly descriptors: number;
}

/** A member in any kind of lab: its folder, as a path of this machine, and its API. */
export class MemberApi {
  readonly name: string;
  readonly folder: string;
  /** The URL of its dashboard; ends with a slash. */
  readonly url: string;
  #cookie: string | undefined;

  constructor(name: string, folder: string, url: string) {
    this.name = name;
    this.folder = folder;
    this.url = url;
  }

  /** Absolute path of an entry of the folder. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  state(...names: readonly string[]): string {
    return join(this.folder, '.lockstep', ...names);
  }

  /** Moves a complete file into the folder. It is one operation: the agent cannot see the file between its creation and its last write. */
  async put(path: string, content: string | Uint8Array): Promise<void> {
    const outside = `${this.folder}.outside`;
    await writeFile(outside, content);
    await rename(outside, this.path(path));
  }

  /**
   * The text of a file of the folder, `undefined` where it is not. Playwright's `expect.poll` does not ask again after an error, so that
   * reading a file that is still on its way must not be one.
   */
  async text(path: string): Promise<string | undefined> {
    return await readFile(this.path(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
  }

  async status(): Promise<Status> {
    return statusSchema.parse(await this.#ask('GET', '/status'));
  }

  /** See `lockstep wait`. */
  async wait(what: { for: 'all' | 'majority' | number; path?: string; timeoutMs?: number }): Promise<WaitResult> {
    return waitResultSchema.parse(await this.#ask('POST', '/wait', { timeoutMs: 60_000, ...what }));
  }

  /** See `lockstep verify`; with `repair` as `lockstep verify --repair`. */
  async verify({ repair = false } = {}): Promise<VerifyResult> {
    return verifyResultSchema.parse(await this.#ask('POST', '/verify', { repair }));
  }

  /** Resolves when the whole folder has been compared with the journal. */
  async rescan(): Promise<void> {
    await this.#ask('POST', '/rescan', {});
  }

  /** Like `Retry now` on the page: dials members that did not answer without waiting for the next attempt. */
  async retry(): Promise<void> {
    await this.#ask('POST', '/retry', {});
  }

  /** The value of a metric, as the sum of its series; with `labels` only of those that contain this text. */
  async metric(name: string, labels = ''): Promise<number> {
    const lines = (await this.#send('GET', '/metrics')).split('\n');
    const series = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return series
      .filter((line) => line.includes(labels))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Codes of the problems that the member reports now. */
  async problems(): Promise<readonly string[]> {
    return (await this.status()).problems.map(({ code }) => code);
  }

  /** The API's answer to a GET of this path. */
  get(path: string): Promise<unknown> {
    return this.#ask('GET', path);
  }

  tree(): Tree {
    return readTree(this.folder);
  }

  async #ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    return JSON.parse(await this.#send(method, apiPrefix + path, body));
  }

  /** The answer to a browser that is logged in, for a path below its address. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    this.#cookie ??= await this.logIn();
    return fetch(new URL(path, this.url), {
      signal: patience(),
      ...init,
      headers: { ...init.headers, cookie: this.#cookie },
    });
  }

  /** The cookie of a browser that a person of this member has logged in: `name=value`. */
  async logIn(): Promise<string> {
    const given = await ask({
      to: { socket: this.state('api.sock') },
      method: 'POST',
      path: `${apiPrefix}/login-link`,
    });
    const { url } = loginLinkSchema.parse(JSON.parse(given.text));
    // The port of a container may be another one inside it.
    return cookieFrom(new URL(new URL(url).search, new URL('login', this.url)).href);
  }

  async #send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<string> {
    const attempt = () =>
      ask({ to: this, method, path, body, headers: this.#cookie === undefined ? {} : { cookie: this.#cookie } });
    let answer = await attempt();
    // The sessions are in the state directory, which a scene may replace.
    if (answer.status === 401) {
      this.#cookie = await this.logIn();
      answer = await attempt();
    }
    if (answer.status === 200) return answer.text;
    throw new Error(`${method} ${path} of ${this.name}: ${answer.status} ${answer.text}`);
  }
}
