import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { nameOf, parentOf } from '@lockstep/shared';
import { apiPrefix, type RemotePage, remotePageSchema } from '@lockstep/shared/api';
import { CounterReader, type CounterValue } from '../../os/counter-file.ts';
import { socketAddress } from '../../os/socket-address.ts';
import { MountError } from '../errno.ts';
import type { Soon } from '../ports/access.ts';
import type { Hold, RemoteEntry, RemoteFiles } from './remote-files.ts';

/** A list is trusted for this time, like the attributes that the kernel keeps. */
const listLastsMs = 1_000;
/** Programs get an error from an agent that does not answer for so long. It answers for a content when that is here. */
const answerMsMax = 9_000;
const contentMsMax = 120_000;
/** How soon a file is asked for again whose agent has ended. */
const holdAgainMs = 200;
/** Lists that are kept; all are dropped when there are more. */
const listsMax = 256;
/** Reads are reported to the agent for this many files at a time, and so often. */
const usedMax = 1_000;
const usedEveryMs = 1_000;

/** The errors that the agent's answers are for a program. */
const codes: Readonly<Record<number, 'ENOENT' | 'ESTALE' | 'EEXIST' | 'ENOSPC'>> = {
  404: 'ENOENT',
  410: 'ESTALE',
  412: 'EEXIST',
  507: 'ENOSPC',
};

/** The remote files of a directory. */
interface List {
  /** By name; undefined if they are more than one page. */
  readonly files: Map<string, RemoteEntry> | undefined;
  /** While the counter is at this value, no other file has become remote. */
  readonly holdsAt: CounterValue | undefined;
}

interface CachedList {
  readonly untilMs: number;
  readonly answer: Promise<List>;
  /** The answer, once it is here. */
  known?: List;
}

/** The paths and callbacks with which the mount reaches an agent. */
export interface AgentPaths {
  /** Finds the agent; it may be another one after a restart. */
  readonly socketPath: () => Promise<string>;
  /** The counters that it raises before a name becomes remote. */
  readonly countersPath: string;
  /** Tells a sentence to the person who mounted the folder. */
  readonly say: (sentence: string) => void;
}

/** The remote files of a member, through the socket of its agent. */
export class AgentFiles implements RemoteFiles {
  readonly #socketPath: () => Promise<string>;
  readonly #counters: CounterReader;
  readonly #say: (sentence: string) => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #lists = new Map<string, CachedList>();
  readonly #used = new Set<string>();
  #explained: string | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;

  constructor({ socketPath, countersPath, say }: AgentPaths) {
    this.#socketPath = socketPath;
    this.#counters = new CounterReader(countersPath);
    this.#say = say;
  }

  async list(directory: string): Promise<readonly RemoteEntry[]> {
    const { files } = await this.#askForList(directory).answer;
    if (files !== undefined) return [...files.values()];
    const all: RemoteEntry[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await this.#page({ directory, ...(after !== undefined && { after }) });
      all.push(...page.files);
      if (page.next === null) return all;
      after = page.next;
    }
  }

  find(path: string): Soon<RemoteEntry | undefined> {
    const directory = parentOf(path);
    const cached = this.#lists.get(directory);
    const isRecent = cached !== undefined && performance.now() < cached.untilMs;
    const list = isRecent ? cached : this.#askForList(directory);
    return list.known !== undefined
      ? this.#findIn(list.known, path)
      : list.answer.then((answer) => this.#findIn(answer, path));
  }

  async findNow(path: string): Promise<RemoteEntry | undefined> {
    return (await this.#page({ directory: parentOf(path), name: nameOf(path) })).files[0];
  }

  async versionNow(path: string): Promise<string | undefined> {
    const answer = await this.#ask('HEAD', `/files/${encoded(path)}`);
    answer.resume();
    return answer.headers.etag?.slice(1, -1);
  }

  changed(path: string): void {
    const directory = parentOf(path);
    const known = this.#lists.get(directory)?.known;
    // An answer that is under way may have the file in it.
    if (known === undefined) this.#lists.delete(directory);
    else known.files?.delete(nameOf(path));
  }

  async hold(path: string): Promise<Hold> {
    let isReleased = false;
    let answer = await this.#askToHold(path);
    const holdAgain = (): void => {
      if (isReleased) return;
      setTimeout(() => {
        if (isReleased) return;
        this.#askToHold(path).then(
          (next) => {
            answer = next;
            if (isReleased) answer.destroy();
            else answer.once('close', holdAgain);
          },
          // The file is gone, or its agent does not answer yet.
          ({ code }: MountError) => code === 'ENOENT' || holdAgain(),
        );
      }, holdAgainMs).unref();
    };
    // An agent that ends forgets what it kept: the next one must not drop it.
    answer.once('close', holdAgain);
    const release = (): void => {
      isReleased = true;
      answer.destroy();
    };
    return { release };
  }

  /** The agent keeps the file until the connection of the answer ends. */
  async #askToHold(path: string): Promise<IncomingMessage> {
    const answer = await this.#ask('POST', `/remote/hold?${new URLSearchParams({ path })}`, {
      timeoutMs: 0,
      isOwn: true,
    });
    this.changed(path);
    return answer.on('error', () => undefined).resume();
  }

  async read(path: string, version: string, { start, end }: { start: number; end: number }): Promise<Uint8Array> {
    const headers = { range: `bytes=${start}-${end - 1}`, 'if-range': `"${version}"` };
    const answer = await this.#ask('GET', `/files/${encoded(path)}`, { headers, timeoutMs: contentMsMax });
    // Another version has its place: its bytes must not be mixed with those that were read.
    if (answer.statusCode !== 206) {
      answer.destroy();
      throw new MountError('ESTALE', `${path} has changed.`);
    }
    return buffer(answer);
  }

  async renamed(from: string, to: string): Promise<void> {
    await this.#ask('POST', '/remote/settle', { body: { paths: [to, from] } }).then(buffer);
    this.#lists.clear();
  }

  used(path: string): void {
    if (this.#used.size < usedMax) this.#used.add(path);
    this.#telling ??= setTimeout(() => this.#tell(), usedEveryMs);
  }

  async remove(path: string): Promise<void> {
    await this.#ask('DELETE', `/files/${encoded(path)}`, { headers: { 'if-match': '*' } }).then(buffer);
    this.changed(path);
  }

  async move(from: string, to: string): Promise<void> {
    const headers = { 'if-match': '*', destination: `${apiPrefix}/files/${encoded(to)}` };
    await this.#ask('MOVE', `/files/${encoded(from)}`, { headers }).then(buffer);
    this.changed(from);
    this.changed(to);
  }

  /** Ends all connections. */
  close(): void {
    clearTimeout(this.#telling);
    this.#agent.destroy();
    this.#counters.close();
  }

  #tell(): void {
    this.#telling = undefined;
    const paths = [...this.#used];
    this.#used.clear();
    // It only helps the agent to choose what it drops.
    this.#ask('POST', '/remote/used', { body: { paths } })
      .then(buffer)
      .catch(() => undefined);
  }

  #findIn({ files, holdsAt }: List, path: string): Soon<RemoteEntry | undefined> {
    const entry = files?.get(nameOf(path));
    if (entry !== undefined) return entry;
    // A name that is missing in a list proves nothing: the agent may have dropped its file since.
    const holds = files !== undefined && holdsAt !== undefined && this.#counters.isAt(holdsAt);
    return holds ? undefined : this.findNow(path);
  }

  /** Asks for the remote files of a directory as they are now, unless they are more than one page. */
  #askForList(directory: string): CachedList {
    const answer = this.#page({ directory }).then(({ files, next, holdsAt }): List => {
      // It is open again if it was lost and made again.
      if (holdsAt !== undefined && !this.#counters.isAt(holdsAt)) this.#counters.close();
      const isWhole = next === null;
      return { files: isWhole ? new Map(files.map((file) => [file.name, file])) : undefined, holdsAt };
    });
    if (this.#lists.size >= listsMax) this.#lists.clear();
    const asked: CachedList = { untilMs: performance.now() + listLastsMs, answer };
    this.#lists.set(directory, asked);
    answer.then(
      (list) => {
        asked.known = list;
      },
      () => {
        if (this.#lists.get(directory) === asked) this.#lists.delete(directory);
      },
    );
    return asked;
  }

  /** Programs show only the number of an error, and repeat it for each read. */
  #explain(reason: string): void {
    if (reason !== this.#explained) this.#say(reason);
    this.#explained = reason;
  }

  async #page(query: Readonly<Record<string, string>>): Promise<RemotePage> {
    const answer = await this.#ask('GET', `/remote?${new URLSearchParams(query)}`);
    return remotePageSchema.parse(JSON.parse((await buffer(answer)).toString('utf8')));
  }

  async #ask(
    method: string,
    path: string,
    {
      headers = {},
      body,
      timeoutMs = answerMsMax,
      isOwn = false,
    }: {
      readonly headers?: Record<string, string>;
      /** Sent as JSON. */
      readonly body?: unknown;
      readonly timeoutMs?: number;
      /** On a connection of its own. */
      readonly isOwn?: boolean;
    } = {},
  ): Promise<IncomingMessage> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const address = await socketAddress(await this.#socketPath());
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { socketPath: address.path, path: apiPrefix + path, method, headers: { ...headers, ...type } };
      const outgoing = request({ ...options, agent: isOwn ? false : this.#agent }, resolve);
      outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error('no answer')));
      outgoing.once('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    })
      .catch((cause: unknown) => {
        throw new MountError('EIO', `The agent does not answer (${(cause as Error).message}).`);
      })
      .finally(() => address.release());
    const { statusCode = 500 } = answer;
    if (statusCode < 400) return answer;
    const reason = reasonIn((await buffer(answer)).toString('utf8'));
    const code = codes[statusCode] ?? 'EIO';
    if (code === 'EIO' || code === 'ENOSPC') this.#explain(reason);
    throw new MountError(code, reason);
  }
}

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function reasonIn(answer: string): string {
  try {
    return String((JSON.parse(answer) as { error?: { message?: unknown } }).error?.message ?? answer);
  } catch {
    return answer;
  }
}
