import { joinPath, nameOf } from '@lockstep/shared';
import { isSameTime } from '../../core/entry.ts';
import { asOpened, MountError } from '../errno.ts';
import type { Access, Draft, EntryStat, KeptVersion, NamedEntry, OpenVersion, Room, Soon } from '../ports/access.ts';
import { after } from '../soon.ts';
import type { RemoteEntry, RemoteFiles } from './remote-files.ts';
import { RemoteVersion, remoteStat } from './remote-version.ts';
import { ReservedDraft } from './reserved-draft.ts';
import type { RoomReserver } from './room-reserver.ts';

/** The size of a directory in the mount: that of its entries would grow with the files that come to the disk. */
const directoryBytes = 4_096;

/**
 * The entries of a member that fetches contents on demand: those of its folder, and the files that only other members have. Reading such a
 * file fetches it. A program that changes one has it brought to the folder first, and kept there meanwhile.
 */
export class RemoteAccess implements Access {
  readonly #local: Access;
  readonly #files: RemoteFiles;
  readonly #reserver: RoomReserver;

  /** `reserver`: where drafts take room. */
  constructor(local: Access, files: RemoteFiles, reserver: RoomReserver) {
    this.#local = local;
    this.#files = files;
    this.#reserver = reserver;
  }

  stat(path: string): Soon<EntryStat> {
    return this.#orRemote({ path, find: () => this.#files.find(path) }, () => this.#local.stat(path), remoteStat);
  }

  /** A fetch or a drop of a file sets its change time, and that of its directory. Programs such as tar would take that for a change. */
  shown(stat: EntryStat): EntryStat {
    if (stat.kind !== 'directory') return { ...stat, ctimeMs: stat.mtimeMs };
    return { ...stat, ctimeMs: stat.birthMs ?? 0, size: directoryBytes };
  }

  async list(directory: string): Promise<readonly NamedEntry[]> {
    // In this order, a file that is dropped meanwhile is in one of the first two lists. A file that is brought to the folder is in one of
    // the last two.
    const before = await this.#local.list(directory);
    const remote = await this.#files.list(directory);
    const local = await this.#local.list(directory);
    const files = remote.map(({ name }) => ({ name, kind: 'file' as const }));
    return [...new Map([...files, ...before, ...local].map((entry) => [entry.name, entry])).values()];
  }

  linkText(path: string): string {
    return this.#local.linkText(path);
  }

  async makeDirectory(path: string, mode: number): Promise<void> {
    if (await this.#isRemote(path)) throw new MountError('EEXIST');
    await this.#local.makeDirectory(path, mode);
  }

  async makeLink(path: string, target: string): Promise<void> {
    if (await this.#isRemote(path)) throw new MountError('EEXIST');
    await this.#local.makeLink(path, target);
  }

  async setMode(path: string, mode: number): Promise<void> {
    // The agent drops no file whose mode or time has changed.
    await this.#orBrought(path, [], () => this.#local.setMode(path, mode));
  }

  async setTimes(path: string, atimeMs: number, mtimeMs: number): Promise<void> {
    await this.#orBrought(path, [], () => this.#local.setTimes(path, atimeMs, mtimeMs));
  }

  async rename(from: string, to: string): Promise<void> {
    const target = await this.#statIfThere(to);
    if (target?.kind === 'directory' && (await this.#files.list(to)).length > 0) throw new MountError('ENOTEMPTY');
    if (target === undefined && (await this.#isRemote(from))) return this.#files.move(from, to);
    const isDirectory = (await this.stat(from)).kind === 'directory';
    await this.#orBrought(from, target?.kind === 'file' ? [to] : [], () => this.#local.rename(from, to));
    this.#files.changed(from);
    this.#files.changed(to);
    // Before a program makes the old name again: the agent tells a rename by what is gone there.
    if (isDirectory) await this.#files.renamed(from, to);
  }

  async removeFile(path: string): Promise<void> {
    if (await this.#isRemote(path)) return this.#files.remove(path);
    await this.#local.removeFile(path);
    this.#files.changed(path);
  }

  async removeDirectory(path: string): Promise<void> {
    const [first] = await this.#files.list(path);
    if (first !== undefined) throw new MountError('ENOTEMPTY', `${joinPath(path, first.name)} is in it.`);
    await this.#local.removeDirectory(path);
  }

  syncDirectory(path: string): Promise<void> {
    return this.#local.syncDirectory(path);
  }

  open(path: string): Soon<OpenVersion> {
    return this.#orRemote<OpenVersion>(
      // Of a version that is not the present one no byte can be read.
      { path, find: () => this.#files.findNow(path) },
      () => after(this.#local.open(path), (opened) => this.#noted(path, opened)),
      (entry) => new RemoteVersion(this.#files, path, entry),
    );
  }

  async isSame(path: string, opened: OpenVersion, now: OpenVersion): Promise<boolean> {
    if (opened.version === now.version) return true;
    if (!(opened instanceof RemoteVersion)) return isSameWriting(now.stat(), opened.stat());
    // If that version is the present one after the local open, `now` has it, too.
    return !(now instanceof RemoteVersion) && opened.is(await this.#files.versionNow(path));
  }

  async keep(path: string, opened: OpenVersion): Promise<KeptVersion> {
    const { release } = await asOpened(this.#files.hold(path));
    try {
      const now = await this.#openAgain(path, opened);
      if (now === opened) return { opened, release };
      const isSame = await this.isSame(path, opened, now);
      // A program writes for the version that it opened.
      if (opened instanceof RemoteVersion && !isSame) {
        now.close();
        throw new MountError('ESTALE', `${path} has changed: open it again.`);
      }
      // The file may have been dropped since it was opened, and brought again.
      const [kept, other] = isSame ? [now, opened] : [opened, now];
      other.close();
      return { opened: kept, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The version at `path`; `opened`, if its user may not open it any more. If the file is another one, the draft becomes a conflict copy. */
  async #openAgain(path: string, opened: OpenVersion): Promise<OpenVersion> {
    try {
      return await this.#local.open(path);
    } catch (error) {
      const isClosed = (error as NodeJS.ErrnoException).code === 'EACCES';
      if (isClosed && !(opened instanceof RemoteVersion)) return opened;
      throw error;
    }
  }

  draft(path: string, from: OpenVersion | undefined, mode: number): Promise<Draft> {
    const parts = { reserver: this.#reserver, path, bytes: from?.stat().size ?? 0 };
    return ReservedDraft.make((beforeCopy) => this.#local.draft(path, from, mode, beforeCopy), parts);
  }

  room(): Promise<Room> {
    return this.#local.room();
  }

  #noted(path: string, opened: OpenVersion): OpenVersion {
    this.#files.used(path);
    return opened;
  }

  /** The entry of the folder at a path or, if there is none, that of other members. */
  #orRemote<Result>(
    { path, find }: { readonly path: string; readonly find: () => Soon<RemoteEntry | undefined> },
    local: () => Soon<Result>,
    remote: (entry: RemoteEntry) => Result,
  ): Soon<Result> {
    try {
      return local();
    } catch (error) {
      if (!isAbsent(error) || nameOf(path) === '') throw error;
      const found = find();
      if (found === undefined) throw error;
      // One that was brought to the folder in between is there now.
      return found instanceof Promise
        ? found.then((entry) => (entry === undefined ? local() : remote(entry)))
        : remote(found);
    }
  }

  async #statIfThere(path: string): Promise<EntryStat | undefined> {
    try {
      return await this.stat(path);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async #isRemote(path: string): Promise<boolean> {
    try {
      await this.#local.stat(path);
      return false;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      // The cached entry may be out of date.
      return (await this.#files.find(path)) !== undefined && (await this.#files.findNow(path)) !== undefined;
    }
  }

  /** Runs `change`, while the agent keeps the files at `kept` in the folder. If the file at `path` is not there, it is brought first. */
  async #orBrought(path: string, kept: readonly string[], change: () => Soon<void>): Promise<void> {
    try {
      await this.#whileHeld(kept, change);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await this.#whileHeld([path, ...kept], change);
    }
  }

  /** Runs `change` while the agent keeps the files among these paths in the folder. */
  async #whileHeld<Result>(paths: readonly string[], change: () => Soon<Result>): Promise<Result> {
    const holds: { release(): void }[] = [];
    try {
      for (const path of paths) {
        const entry = await this.stat(path);
        if (entry.kind === 'file') holds.push(await this.#files.hold(path));
      }
      return await change();
    } finally {
      for (const hold of holds) hold.release();
    }
  }
}

/** A file that is fetched gets its time to within a microsecond. */
function isSameWriting(a: EntryStat, b: EntryStat): boolean {
  return a.size === b.size && isSameTime(a.mtimeMs * 1_000, b.mtimeMs * 1_000);
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
