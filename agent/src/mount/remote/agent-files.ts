import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { nameOf, parentOf } from '@lockstep/shared';
import {
  apiPrefix,
  publishedMax,
  type RemotePage,
  remotePageSchema,
  roomHeader,
  roomResultSchema,
} from '@lockstep/shared/api';
import { CounterReader, type CounterValue } from '../../os/counter-file.ts';
import { asOpened, MountError } from '../errno.ts';
import type { Soon } from '../ports/access.ts';
import { type AgentAddress, AgentQuestions } from './agent-questions.ts';
import { NameRun } from './name-run.ts';
import type { Hold, RemoteEntry, RemoteFiles, Room } from './remote-files.ts';

/** A list is trusted for this time, like the attributes that the kernel keeps. */
const listLastsMs = 1_000;
/** The agent answers for a content when that is here. */
const contentMsMax = 120_000;
/** It answers for a directory when all that is in it is journaled: 50,000 files took 22 s on a busy machine. */
const renamedMsMax = 120_000;
/** How soon a file is asked for again whose agent has ended. */
const holdAgainMs = 200;
/** Lists that are kept; all are dropped when there are more. */
const listsMax = 256;
/** Reads are reported to the agent for this many files at a time, and so often. */
const usedMax = 1_000;
const usedEveryMs = 1_000;

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

/** The address of the agent, and the counters of its remote files. */
export interface AgentPaths extends AgentAddress {
  /** The counters that it raises before a name becomes remote. */
  readonly countersPath: string;
}

/** The remote files of a member, through the socket of its agent. */
export class AgentFiles implements RemoteFiles {
  readonly #questions: AgentQuestions;
  readonly #counters: CounterReader;
  readonly #lists = new Map<string, CachedList>();
  /** The look-ups in directories that are too large for a list. */
  readonly #runs = new Map<string, NameRun>();
  readonly #used = new Set<string>();
  #telling: ReturnType<typeof setTimeout> | undefined;

  constructor({ countersPath, ...address }: AgentPaths) {
    this.#questions = new AgentQuestions(address);
    this.#counters = new CounterReader(countersPath);
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
    const [entry] = (await this.#page({ directory: parentOf(path), name: nameOf(path) })).files;
    // A program that opens the file gets this version, and must not find the attributes of an older one.
    const listed = this.#lists.get(parentOf(path))?.known?.files;
    if (entry !== undefined && listed?.has(entry.name)) listed.set(entry.name, entry);
    this.#runs.get(parentOf(path))?.forget(nameOf(path));
    return entry;
  }

  async versionNow(path: string): Promise<string | undefined> {
    const answer = await this.#questions.ask('HEAD', `/files/${encoded(path)}`);
    answer.resume();
    return answer.headers.etag?.slice(1, -1);
  }

  changed(path: string): void {
    const directory = parentOf(path);
    const known = this.#lists.get(directory)?.known;
    // An answer that is under way may have the file in it.
    if (known === undefined) this.#lists.delete(directory);
    else known.files?.delete(nameOf(path));
    this.#runs.get(directory)?.forget(nameOf(path));
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
    const answer = await this.#questions.ask('POST', `/remote/hold?${new URLSearchParams({ path })}`, {
      timeoutMs: 0,
      isOwn: true,
    });
    this.changed(path);
    return answer.on('error', () => undefined).resume();
  }

  async read(path: string, version: string, { start, end }: { start: number; end: number }): Promise<Uint8Array> {
    const headers = { range: `bytes=${start}-${end - 1}`, 'if-range': `"${version}"` };
    const question = { headers, timeoutMs: contentMsMax };
    const answer = await asOpened(this.#questions.ask('GET', `/files/${encoded(path)}`, question));
    // Another version has its place: its bytes must not be mixed with those that were read.
    if (answer.statusCode !== 206) {
      answer.destroy();
      throw new MountError('ESTALE', `${path} has changed.`);
    }
    return buffer(answer);
  }

  async openRoom(ended: () => void): Promise<Room> {
    const answer = await this.#questions.ask('POST', '/remote/room', { timeoutMs: 0, isOwn: true });
    answer
      .on('error', () => undefined)
      .once('close', ended)
      .resume();
    const name = String(answer.headers[roomHeader]);
    return {
      set: async (request) => {
        const asked = { body: request, timeoutMs: contentMsMax };
        const set = await this.#questions.ask('POST', `/remote/room/${name}`, asked);
        return roomResultSchema.parse(JSON.parse((await buffer(set)).toString('utf8'))).bytes;
      },
      published: async (files) => {
        for (let index = 0; index < files.length; index += publishedMax) {
          const body = { files: files.slice(index, index + publishedMax) };
          await this.#questions.ask('POST', `/remote/room/${name}/published`, { body }).then(buffer);
        }
      },
      end: () => void answer.destroy(),
    };
  }

  async renamed(from: string, to: string): Promise<void> {
    // The directory has its new name already. An error would tell the program the opposite.
    const asked = { body: { paths: [to, from] }, timeoutMs: renamedMsMax };
    await this.#questions.ask('POST', '/remote/settle', asked).then(buffer);
    this.#lists.clear();
    this.#runs.clear();
  }

  used(path: string): void {
    if (this.#used.size < usedMax) this.#used.add(path);
    this.#telling ??= setTimeout(() => this.#tell(), usedEveryMs);
  }

  async remove(path: string): Promise<void> {
    await this.#questions.ask('DELETE', `/files/${encoded(path)}`, { headers: { 'if-match': '*' } }).then(buffer);
    this.changed(path);
  }

  async move(from: string, to: string): Promise<void> {
    const headers = { 'if-match': '*', destination: `${apiPrefix}/files/${encoded(to)}` };
    await this.#questions.ask('MOVE', `/files/${encoded(from)}`, { headers }).then(buffer);
    this.changed(from);
    this.changed(to);
  }

  /** Ends all connections. */
  close(): void {
    clearTimeout(this.#telling);
    this.#questions.close();
    this.#counters.close();
  }

  #tell(): void {
    this.#telling = undefined;
    const paths = [...this.#used];
    this.#used.clear();
    // It only helps the agent to choose what it drops.
    this.#questions
      .ask('POST', '/remote/used', { body: { paths } })
      .then(buffer)
      .catch(() => undefined);
  }

  #findIn({ files, holdsAt }: List, path: string): Soon<RemoteEntry | undefined> {
    if (files === undefined) return this.#findInRun(path);
    const entry = files.get(nameOf(path));
    if (entry !== undefined) return entry;
    // A name that is missing in a list proves nothing: the agent may have dropped its file since.
    const holds = holdsAt !== undefined && this.#counters.isAt(holdsAt);
    return holds ? undefined : this.findNow(path);
  }

  async #findInRun(path: string): Promise<RemoteEntry | undefined> {
    const [directory, name] = [parentOf(path), nameOf(path)];
    const run = this.#runs.get(directory) ?? this.#beginRun(directory);
    const ahead = await run.ahead(name);
    if (ahead !== undefined) return ahead;
    const found = this.findNow(path);
    run.missed(name);
    return found;
  }

  #beginRun(directory: string): NameRun {
    const run = new NameRun(async (after) => (await this.#page({ directory, after })).files, listLastsMs);
    if (this.#runs.size >= listsMax) this.#runs.clear();
    this.#runs.set(directory, run);
    return run;
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

  async #page(query: Readonly<Record<string, string>>): Promise<RemotePage> {
    const answer = await this.#questions.ask('GET', `/remote?${new URLSearchParams(query)}`);
    return remotePageSchema.parse(JSON.parse((await buffer(answer)).toString('utf8')));
  }
}

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
