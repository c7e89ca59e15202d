import { rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  apiPrefix,
  type Status,
  statusSchema,
  type VerifyResult,
  verifyResultSchema,
  type WaitResult,
  waitResultSchema,
} from '@lockstep/shared/api';
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
  async put(path: string, content: string): Promise<void> {
    const outside = `${this.folder}.outside`;
    await writeFile(outside, content);
    await rename(outside, this.path(path));
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

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return JSON.parse(await this.#send(method, apiPrefix + path, body));
  }

  #send(method: string, path: string, body?: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const outgoing = request(new URL(path, this.url), { method, headers, agent: false }, (incoming) => {
        text(incoming).then((answer) => {
          if (incoming.statusCode === 200) resolve(answer);
          else reject(new Error(`${method} ${path} of ${this.name}: ${incoming.statusCode} ${answer}`));
        }, reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
