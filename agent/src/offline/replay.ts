import { constants } from 'node:fs';
import { lstat, lutimes, mkdir, mkdtemp, open, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { entryType, isLive, isStatePath, LockstepError, type Operation, parentOf, pathFault } from '@lockstep/shared';
import type { ReplayResult } from '@lockstep/shared/api';
import { blockCount } from '../core/blocks.ts';
import { noBytes } from '../core/plan/action.ts';
import { openJournal } from '../store/journal.ts';
import type { Engine } from '../sync/engine.ts';
import type { ContentSource } from '../sync/ports/folder.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { findHere } from '../sync/transfer/local-content.ts';

/** The parts of a member that a replay needs. */
export type ReplayedMember = Pick<Engine, 'context' | 'oldVersions' | 'work'>;

const operationsAtOnce = 1_000;

/**
 * Rebuilds the folder in the empty directory `into` from the operation log alone. The log is replayed into a separate journal, whose heads
 * are the entries to write; each content comes from this member or else from a peer. Throws `request-invalid` if `into` cannot be used.
 */
export async function replayInto(engine: ReplayedMember, into: string, signal: AbortSignal): Promise<ReplayResult> {
  const startMs = performance.now();
  await prepare(into);
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-replay-'));
  const { context } = engine;
  const counts = context.journal.totals.counts().disk;
  const task = engine.work.begin('replay', counts.files + counts.directories);
  const replayed = openJournal({
    path: join(directory, 'journal.db'),
    memberId: context.self.id,
    random: () => context.clock.random(),
    nowMs: () => context.clock.wallMs(),
  });
  try {
    replayLog(context.journal, replayed, signal);
    const rebuild = new Rebuild(engine, replayed, await realpath(into));
    await rebuild.run(signal, () => task.did(1));
    return { ...rebuild.counts, missing: rebuild.missing, elapsedMs: performance.now() - startMs };
  } finally {
    task.end();
    replayed.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function prepare(into: string): Promise<void> {
  if (!isAbsolute(into))
    throw new LockstepError('request-invalid', `${into} is not an absolute path. Name the directory in full.`);
  try {
    await mkdir(into, { recursive: true });
    if ((await readdir(into)).length > 0) {
      throw new LockstepError(
        'request-invalid',
        `${into} is not empty. Name an empty directory, or one that does not exist.`,
      );
    }
  } catch (cause) {
    if (cause instanceof LockstepError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new LockstepError(
      'request-invalid',
      `${into} cannot be used (${code}). Name a directory that the agent may write to.`,
      {
        cause,
      },
    );
  }
}

function replayLog(from: Journal, to: Journal, signal: AbortSignal): void {
  for (const operations of from.log.operationsBeyond({}, operationsAtOnce)) {
    if (signal.aborted) return;
    to.append(operations);
  }
}

class Rebuild {
  readonly counts = { files: 0, directories: 0, symlinks: 0, bytes: 0 };
  readonly missing: { path: string; content?: string; reason: string }[] = [];
  readonly #engine: ReplayedMember;
  readonly #journal: Journal;
  readonly #into: string;
  /** Links are made last: no path of an entry can lead through one of them. */
  readonly #links: Operation[] = [];
  /** Modes are set last: a directory without write permission could not be filled. */
  readonly #modes: { readonly path: string; readonly mode: number }[] = [];

  constructor(engine: ReplayedMember, journal: Journal, into: string) {
    this.#engine = engine;
    this.#journal = journal;
    this.#into = into;
  }

  /** `did` is called after each entry. */
  async run(signal: AbortSignal, did: () => void): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const heads = this.#journal.heads.under('', after, operationsAtOnce);
      for (const head of heads) {
        if (signal.aborted) return;
        if (!isLive(head) || isStatePath(head.path)) continue;
        await this.#entry(head);
        did();
      }
      after = heads.at(-1)?.path;
      if (heads.length < operationsAtOnce) break;
    }
    for (const link of this.#links) await this.#written(link, (target) => this.#link(link, target));
    for (const { path, mode } of this.#modes.reverse()) await setMode(path, mode);
  }

  async #entry(head: Operation): Promise<void> {
    switch (entryType(head)) {
      case 'directory':
        return this.#written(head, async (target) => {
          await mkdir(target);
          this.#modes.push({ path: target, mode: permissions(head.mode ?? 0o755) });
          this.counts.directories++;
        });
      case 'symlink':
        this.#links.push(head);
        return;
      case 'file':
        return this.#written(head, (target) => this.#file(head, target));
      default:
        return;
    }
  }

  /** Writes one entry, unless a parent of its path is no directory that the replay made: a link would lead elsewhere. */
  async #written({ path }: Operation, write: (target: string) => Promise<void>): Promise<void> {
    try {
      const fault = pathFault(path);
      if (fault !== undefined) throw new Error(`the path ${fault}`);
      for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
        if (!(await lstat(join(this.#into, parent))).isDirectory()) throw new Error(`${parent} is no directory`);
      }
      await write(join(this.#into, path));
    } catch (error) {
      this.missing.push({
        path,
        reason: `It could not be written: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }

  async #link(head: Operation, target: string): Promise<void> {
    await symlink(head.target ?? '', target);
    await lutimes(target, seconds(head), seconds(head));
    this.counts.symlinks++;
  }

  async #file(head: Operation, target: string): Promise<void> {
    const source = await this.#source(head);
    const { content, blocks, size = 0 } = head;
    if (source === undefined || content === undefined) {
      this.missing.push({
        path: head.path,
        ...(content && { content }),
        reason: 'No reachable member has its content any more.',
      });
      return;
    }
    const file = await open(target, 'wx', 0o600);
    try {
      const count = size === 0 ? 0 : blockCount(size);
      for (let index = 0; index < count; index++) {
        const bytes = await this.#engine.context.folder.readBlock({ content, blocks, size, index, source });
        if (bytes === undefined) throw new Error('its content changed while it was read');
        await file.write(bytes);
      }
      await file.chmod(permissions(head.mode ?? 0o644));
      await file.utimes(seconds(head), seconds(head));
    } catch (error) {
      // A partial file would look like a rebuilt one.
      await rm(target, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    this.counts.files++;
    this.counts.bytes += size;
  }

  async #source(head: Operation): Promise<ContentSource | undefined> {
    const { content, size } = head;
    if (content === undefined) return undefined;
    if (size === 0) return noBytes;
    const { context } = this.#engine;
    const here = await findHere(context, content, ['folder', 'history']);
    if (here !== undefined) return here;
    return (await this.#engine.oldVersions.obtain(head)) ? { from: 'history' } : undefined;
  }
}

/** The mode without setuid, setgid and sticky bits: the rebuilt files may belong to root, although their author is not root. */
function permissions(mode: number): number {
  return mode & 0o777;
}

/** As chmod(2) for a directory, but never through a link. */
async function setMode(directory: string, mode: number): Promise<void> {
  const opened = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await opened.chmod(mode);
  } finally {
    await opened.close();
  }
}

/** Seconds with half a microsecond added, so that truncation by the file system returns the same microsecond. */
function seconds({ mtimeUs = 0 }: Operation): number {
  return (mtimeUs + 0.5) / 1e6;
}
