import { constants } from 'node:fs';
import { joinPath, nameOf, parentOf } from '@lockstep/shared';
import type { DirectoryEntry, EntryStats, FileSystemStats, OpenDirectory, SystemCalls } from '../../fs/system-calls.ts';
import type { Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { WallClock } from '../base/sim-clock.ts';
import { type Content, contentOfText, readInto, written } from '../disk/content.ts';
import { DiskError, type DiskErrorCode } from '../disk/disk-error.ts';
import { type Inode, InodeStats, userNumber } from '../disk/inode.ts';
import { descriptorIn, pathByDescriptor, placeOf, walk } from '../disk/path-walk.ts';
import type { Volume } from '../disk/volume.ts';
import { type OpenFile, OpenFiles } from './open-files.ts';
import type { ReplaceListener } from './replace-watch.ts';

/** The paths of the folder and the state for an agent. */
export const folderRoot = '/folder';
export const stateRoot = '/state';

const blocksOfDisk = 2 ** 24;
const blockSizeBytes = 4_096;
/** The magic number of ext4. */
const fileSystemType = 61_267;

const ownerMay = { read: 0o400, write: 0o200 } as const;

/** Their results only direct later calls. */
const callsThatCompare: ReadonlySet<keyof SystemCalls> = new Set(['lstat', 'stat']);

/** These need no permission any more. */
const callsOfOpenFiles: ReadonlySet<keyof SystemCalls> = new Set(['fstat', 'read', 'write', 'fsync', 'mtimeNs']);

/** The effect of a call on the disk: none, some, or one that needs room. */
type Effect = 'none' | 'some' | 'needs room';

/** Called for every file that an agent puts into its folder. */
export type PlacedListener = (path: string, content: Content) => void;

export interface SimCallsOptions {
  readonly volume: Volume;
  readonly life: Life;
  readonly random: Random;
  readonly wall: WallClock;
  /** The longest duration of one call. */
  readonly callMsMax: number;
  /** The disk supports syncfs(2). */
  readonly canSyncFileSystem: boolean;
  readonly placed: PlacedListener;
  /** Called before each call on `path`, so that others can act. A path of the folder is relative to it. */
  readonly between: (path: string) => void;
  /** Called if the agent followed this link to change or read something. */
  readonly followed: (link: string) => void;
  /** Notified if the agent checked an entry, gave it a second name, or is about to rename another one onto it. */
  readonly replacements: ReplaceListener;
}

/**
 * The system calls on a simulated disk, for one life of an agent. Between two of them the agent may be killed, others may write, and time
 * passes. Each call may fail.
 */
export class SimCalls implements SystemCalls {
  readonly #options: SimCallsOptions;
  readonly #volume: Volume;
  readonly #files = new OpenFiles();

  constructor(options: SimCallsOptions) {
    this.#options = options;
    this.#volume = options.volume;
  }

  get canSyncFileSystem(): boolean {
    return this.#options.canSyncFileSystem;
  }

  /** Runs system calls without other work of the agent in between. Returns their result, and the time that they took. */
  during<T>(body: () => T): readonly [result: T, elapsedMs: number] {
    const { wall } = this.#options;
    try {
      const result = body();
      return [result, wall.aheadMs];
    } finally {
      wall.aheadMs = 0;
    }
  }

  lstat(absolute: string): EntryStats | undefined {
    const path = this.#begin('lstat', absolute, 'none');
    const inode = path === undefined ? undefined : this.#volume.disk.at(path);
    if (path !== undefined && isInFolder(path)) this.#options.replacements.checked(path, inode);
    return inode && new InodeStats(inode);
  }

  stat(absolute: string): EntryStats | undefined {
    const path = this.#begin('stat', absolute, 'none');
    const inode = path === undefined ? undefined : this.#volume.disk.at(path);
    return inode && new InodeStats(inode);
  }

  fstat(fd: number): EntryStats {
    return new InodeStats(this.#ofOpen('fstat', fd, 'none').inode);
  }

  mtimeNs(entry: number | string): bigint {
    const inode =
      typeof entry === 'number' ? this.#ofOpen('mtimeNs', entry, 'none').inode : this.#inode('mtimeNs', entry);
    return BigInt(Math.floor(inode.mtimeMs * 1_000)) * 1_000n;
  }

  open(absolute: string, flags: number, mode = 0o666): number {
    const { disk } = this.#volume;
    const makes = (flags & constants.O_CREAT) !== 0;
    const writes = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    const empties = (flags & constants.O_TRUNC) !== 0;
    const path = this.#there('open', absolute, makes || empties ? 'needs room' : 'none');
    let inode = disk.at(path);
    if (inode !== undefined && makes && (flags & constants.O_EXCL) !== 0) throw new DiskError('EEXIST', absolute);
    if (inode === undefined && makes) {
      this.#checkWritable(path);
      inode = disk.create(path, mode);
    }
    inode ??= disk.inodeAt(path);
    this.#checkOpens(inode, absolute, { writes, flags });
    if (empties && inode.content !== undefined && inode.content.size > 0) disk.change(inode, contentOfText(''));
    return this.#files.add({ inode, path, writes });
  }

  openDirectory(absolute: string): OpenDirectory {
    const path = this.#there('openDirectory', absolute, 'none');
    const inode = this.#volume.disk.inodeAt(path);
    if (inode.type !== 'directory') throw new DiskError('ENOTDIR', absolute);
    const fd = this.#files.add({ inode, path, writes: false });
    return { path: pathByDescriptor(fd), stats: new InodeStats(inode), close: () => this.close(fd) };
  }

  close(fd: number): void {
    // A dead process has closed all its descriptors.
    this.#options.life.check();
    this.#volume.disk.closed(this.#files.remove(fd));
  }

  read(fd: number, target: Uint8Array, offset: number, length: number, position: number): number {
    const { content } = this.#ofOpen('read', fd, 'none').inode;
    if (content === undefined) throw new DiskError('EISDIR', String(fd));
    return readInto(content, target.subarray(offset, offset + length), position);
  }

  write(fd: number, source: Uint8Array, offset: number, length: number, position: number): number {
    const { inode, path, writes } = this.#ofOpen('write', fd, 'needs room');
    if (inode.content === undefined || !writes) throw new DiskError('EBADF', path);
    this.#volume.disk.change(inode, written(inode.content, source.subarray(offset, offset + length), position));
    this.#notify(path);
    return length;
  }

  fsync(fd: number): void {
    const { inode, path } = this.#ofOpen('fsync', fd, 'some');
    if (inode.type === 'special') throw new DiskError('EINVAL', path);
    this.#volume.disk.cache.syncInode(inode);
  }

  chmod(absolute: string, mode: number): void {
    this.#volume.disk.chmod(this.#there('chmod', absolute, 'some'), mode);
  }

  fchmod(fd: number, mode: number): void {
    const { inode, path } = this.#ofOpen('fchmod', fd, 'some');
    this.#volume.disk.setAttributes(inode, { mode });
    this.#notify(path);
  }

  futimes(fd: number, mtimeUs: number): void {
    const { inode, path } = this.#ofOpen('futimes', fd, 'some');
    this.#volume.disk.setAttributes(inode, { mtimeMs: mtimeUs / 1_000 });
    this.#notify(path);
  }

  lutimes(absolute: string, mtimeUs: number): void {
    this.#volume.disk.utimes(this.#there('lutimes', absolute, 'some'), mtimeUs / 1_000);
  }

  link(existing: string, absolute: string): void {
    const from = this.#there('link', existing, 'needs room');
    const to = this.#there('link', absolute, 'none');
    this.#checkWritable(to);
    this.#volume.disk.link(from, to);
    if (isInFolder(from)) this.#options.replacements.held(from, this.#volume.disk.inodeAt(from));
    this.#placed(to);
  }

  rename(from: string, absolute: string): void {
    const source = this.#there('rename', from, 'some');
    const target = this.#there('rename', absolute, 'none');
    this.#checkWritable(source);
    this.#checkWritable(target);
    const replaced = this.#volume.disk.at(target);
    this.#volume.disk.rename(source, target);
    if (replaced !== undefined && isInFolder(target)) this.#options.replacements.replaces(target, replaced);
    // An entry that is already in the folder may be rotten, and is not read for a rename.
    if (!isInFolder(source)) this.#placed(target);
  }

  unlink(absolute: string): void {
    const path = this.#there('unlink', absolute, 'some');
    this.#checkWritable(path);
    this.#volume.disk.unlink(path);
  }

  symlink(target: string, absolute: string): void {
    const path = this.#there('symlink', absolute, 'needs room');
    this.#checkWritable(path);
    this.#volume.disk.symlink(path, target);
  }

  mkdir(absolute: string, mode: number): void {
    const path = this.#there('mkdir', absolute, 'needs room');
    if (this.#volume.disk.at(path) !== undefined) throw new DiskError('EEXIST', absolute);
    this.#checkWritable(path);
    this.#volume.disk.mkdir(path, mode);
  }

  rmdir(absolute: string): void {
    const path = this.#there('rmdir', absolute, 'some');
    this.#checkWritable(path);
    this.#volume.disk.rmdir(path);
  }

  readdir(absolute: string): readonly string[] {
    return [...this.#children('readdir', absolute).keys()];
  }

  readdirBytes(absolute: string): readonly Buffer[] {
    return this.readdir(absolute).map((name) => Buffer.from(name));
  }

  readdirTypes(absolute: string): readonly DirectoryEntry[] {
    return [...this.#children('readdirTypes', absolute)].map(([name, { type }]) => ({
      name,
      isFile: () => type === 'file',
      isDirectory: () => type === 'directory',
      isSymbolicLink: () => type === 'symlink',
    }));
  }

  readlink(absolute: string): Buffer {
    const { target } = this.#inode('readlink', absolute);
    if (target === undefined) throw new DiskError('EINVAL', absolute);
    return Buffer.from(target);
  }

  copyFile(from: string, absolute: string): void {
    const { disk } = this.#volume;
    const source = this.#inode('copyFile', from);
    const path = this.#there('copyFile', absolute, 'needs room');
    if (source.content === undefined) throw new DiskError('EISDIR', from);
    disk.change(disk.create(path, source.mode), source.content);
  }

  statfs(absolute: string): FileSystemStats {
    this.#there('statfs', absolute, 'none');
    const bavail = this.#volume.full === 'disk' ? 0 : blocksOfDisk;
    return { type: fileSystemType, bsize: blockSizeBytes, blocks: blocksOfDisk, bavail };
  }

  fileSystemId(absolute: string): string {
    return String(this.#inode('fileSystemId', absolute).device.number);
  }

  syncFileSystem(absolute: string): boolean {
    this.#there('syncFileSystem', absolute, 'some');
    if (this.canSyncFileSystem) this.#volume.disk.cache.sync();
    return this.canSyncFileSystem;
  }

  mountTable(): string {
    const { disk } = this.#volume;
    if (!disk.hasMounts || this.#volume.missing) return '';
    const points = [...disk.entries()].map(([path]) => path).filter((path) => disk.isMountPoint(path));
    return points.map((path) => `0 0 0:0 / ${folderRoot}/${path.replaceAll(' ', '\\040')} rw`).join('\n');
  }

  /** Mappings of simulated users are not listed: the poll of all files finds stores through them. */
  memoryMaps(): Iterable<string> {
    return [];
  }

  effectiveUser(): number {
    return userNumber;
  }

  wallMs(): number {
    return this.#options.wall.preciseMs();
  }

  /** The entries of a directory. Mounted roots replace the directories that they hide. */
  #children(call: keyof SystemCalls, absolute: string): ReadonlyMap<string, Inode> {
    const path = this.#there(call, absolute, 'none');
    const { disk } = this.#volume;
    const { children, mode } = disk.inodeAt(path);
    if (children === undefined) throw new DiskError('ENOTDIR', absolute);
    if ((mode & ownerMay.read) === 0) throw new DiskError('EACCES', absolute);
    return children;
  }

  #inode(call: keyof SystemCalls, absolute: string): Inode {
    return this.#volume.disk.inodeAt(this.#there(call, absolute, 'none'));
  }

  #ofOpen(call: keyof SystemCalls, fd: number, effect: Effect): OpenFile {
    this.#happen(call, this.#files.find(fd)?.path ?? '/', effect);
    return this.#files.get(fd);
  }

  #there(call: keyof SystemCalls, absolute: string, effect: Effect): string {
    const path = this.#begin(call, absolute, effect);
    if (path === undefined) throw new DiskError('ENOENT', absolute);
    return path;
  }

  /** Precedes each call with a path. Returns the path on the disk, or undefined if it does not exist. */
  #begin(call: keyof SystemCalls, absolute: string, effect: Effect): string | undefined {
    const { fd, name = '' } = descriptorIn(absolute) ?? {};
    const directory = fd === undefined ? undefined : this.#files.get(fd);
    const named = directory === undefined || name === '' ? directory?.path : joinPath(directory.path, name);
    this.#happen(call, named ?? pathOf(absolute), effect);
    const from = directory === undefined ? '/' : placeOf(this.#volume.disk, directory);
    if (this.#volume.missing || from === undefined) return undefined;
    const { path, link } = walk(this.#volume.disk, from, directory === undefined ? absolute : name);
    if (link !== undefined && !callsThatCompare.has(call)) this.#options.followed(link);
    return path;
  }

  /** Precedes each call. */
  #happen(call: keyof SystemCalls, path: string, effect: Effect): void {
    const { life, random, wall, callMsMax, between } = this.#options;
    life.check();
    wall.aheadMs += random.unit() ** 4 * callMsMax;
    between(path);
    if (effect !== 'none') life.effect();
    const code = this.#failure(call, effect);
    if (code !== undefined) throw new DiskError(code, path);
  }

  #failure(call: keyof SystemCalls, effect: Effect): DiskErrorCode | undefined {
    const { full, failures } = this.#volume;
    if (full !== undefined && effect === 'needs room') return full === 'disk' ? 'ENOSPC' : 'EDQUOT';
    if (failures?.code === 'EACCES' && callsOfOpenFiles.has(call)) return undefined;
    return failures !== undefined && this.#options.random.chance(failures.chance) ? failures.code : undefined;
  }

  #checkWritable(path: string): void {
    if ((this.#volume.disk.parentAt(path).mode & ownerMay.write) === 0) throw new DiskError('EACCES', path);
  }

  #checkOpens(inode: Inode, absolute: string, { writes, flags }: { writes: boolean; flags: number }): void {
    const { type, mode } = inode;
    if (type === 'symlink') throw new DiskError('ELOOP', absolute);
    if (type !== 'directory' && (flags & constants.O_DIRECTORY) !== 0) throw new DiskError('ENOTDIR', absolute);
    if (type === 'directory' && writes) throw new DiskError('EISDIR', absolute);
    if ((mode & (writes ? ownerMay.write : ownerMay.read)) === 0) throw new DiskError('EACCES', absolute);
  }

  #notify(path: string): void {
    if (path === '' || path === folderRoot) return;
    const parent = this.#volume.disk.at(parentOf(path));
    if (parent !== undefined) this.#volume.disk.notify(parent, nameOf(path));
  }

  #placed(path: string): void {
    const content = isInFolder(path) ? this.#volume.disk.at(path)?.content : undefined;
    if (content !== undefined) this.#options.placed(path, content);
  }
}

/** True for a path of the folder, which is relative to it. */
function isInFolder(path: string): boolean {
  return !path.startsWith('/');
}

/** Converts a path of the agent to one of the disk. */
function pathOf(absolute: string): string {
  if (absolute === folderRoot || absolute === `${folderRoot}/.`) return '';
  return absolute.startsWith(`${folderRoot}/`) ? absolute.slice(folderRoot.length + 1) : absolute;
}
