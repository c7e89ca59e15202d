import { constants } from 'node:fs';
import { nameOf, parentOf } from '@lockstep/shared';
import type { DirectoryEntry, EntryStats, FileSystemStats, OpenDirectory, SystemCalls } from '../../fs/system-calls.ts';
import { type Content, contentOfText, readInto, written } from '../disk/content.ts';
import { DiskError } from '../disk/disk-error.ts';
import { type Inode, InodeStats, userNumber } from '../disk/inode.ts';
import { pathByDescriptor } from '../disk/path-walk.ts';
import type { Volume } from '../disk/volume.ts';
import { CallGate, type CallGateOptions, folderRoot, isInFolder } from './call-gate.ts';
import { checkOpens, OpenFiles, ownerMay } from './open-files.ts';
import type { ReplaceListener } from './replace-watch.ts';

const blocksOfDisk = 2 ** 24;
const blockSizeBytes = 4_096;
/** The magic number of ext4. */
const fileSystemType = 61_267;

/** Called for every file that an agent puts into its folder. */
export type PlacedListener = (path: string, content: Content) => void;

export interface SimCallsOptions extends CallGateOptions {
  /** The disk supports syncfs(2). */
  readonly canSyncFileSystem: boolean;
  readonly placed: PlacedListener;
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
  readonly #gate: CallGate;

  constructor(options: SimCallsOptions) {
    this.#options = options;
    this.#volume = options.volume;
    this.#gate = new CallGate(options, this.#files);
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

  /** The place of a name, wherever its directory is moved. */
  #placeOf(path: string): string {
    return `${this.#volume.disk.at(parentOf(path))?.number}/${nameOf(path)}`;
  }

  lstat(absolute: string): EntryStats | undefined {
    const path = this.#gate.begin('lstat', absolute, 'none');
    const inode = path === undefined ? undefined : this.#volume.disk.at(path);
    if (path !== undefined && isInFolder(path)) this.#options.replacements.checked(this.#placeOf(path), inode);
    return inode && new InodeStats(inode);
  }

  stat(absolute: string): EntryStats | undefined {
    const path = this.#gate.begin('stat', absolute, 'none');
    const inode = path === undefined ? undefined : this.#volume.disk.at(path);
    return inode && new InodeStats(inode);
  }

  fstat(fd: number): EntryStats {
    return new InodeStats(this.#gate.ofOpen('fstat', fd, 'none').inode);
  }

  mtimeNs(entry: number | string): bigint {
    const inode =
      typeof entry === 'number' ? this.#gate.ofOpen('mtimeNs', entry, 'none').inode : this.#inode('mtimeNs', entry);
    return BigInt(Math.floor(inode.mtimeMs * 1_000)) * 1_000n;
  }

  open(absolute: string, flags: number, mode = 0o666): number {
    const { disk } = this.#volume;
    const makes = (flags & constants.O_CREAT) !== 0;
    const writes = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    const empties = (flags & constants.O_TRUNC) !== 0;
    const path = this.#gate.there('open', absolute, makes || empties ? 'needs room' : 'none');
    let inode = disk.at(path);
    if (inode !== undefined && makes && (flags & constants.O_EXCL) !== 0) throw new DiskError('EEXIST', absolute);
    if (inode === undefined && makes) {
      this.#checkWritable(path);
      inode = disk.create(path, mode);
    }
    inode ??= disk.inodeAt(path);
    checkOpens(inode, absolute, { writes, flags });
    if (empties && inode.content !== undefined && inode.content.size > 0) disk.change(inode, contentOfText(''));
    return this.#files.add({ inode, path, writes });
  }

  openDirectory(absolute: string): OpenDirectory {
    const path = this.#gate.there('openDirectory', absolute, 'none');
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
    const { content } = this.#gate.ofOpen('read', fd, 'none').inode;
    if (content === undefined) throw new DiskError('EISDIR', String(fd));
    return readInto(content, target.subarray(offset, offset + length), position);
  }

  write(fd: number, source: Uint8Array, offset: number, length: number, position: number): number {
    const { inode, path, writes } = this.#gate.ofOpen('write', fd, 'needs room');
    if (inode.content === undefined || !writes) throw new DiskError('EBADF', path);
    this.#volume.disk.change(inode, written(inode.content, source.subarray(offset, offset + length), position));
    this.#notify(path);
    return length;
  }

  fsync(fd: number): void {
    const { inode, path } = this.#gate.ofOpen('fsync', fd, 'some');
    if (inode.type === 'special') throw new DiskError('EINVAL', path);
    this.#volume.disk.cache.syncInode(inode);
  }

  chmod(absolute: string, mode: number): void {
    const path = this.#gate.there('chmod', absolute, 'some');
    if (this.#volume.disk.inodeAt(path).type === 'symlink') throw new DiskError('ELOOP', absolute);
    this.#volume.disk.chmod(path, mode);
  }

  fchmod(fd: number, mode: number): void {
    const { inode, path } = this.#gate.ofOpen('fchmod', fd, 'some');
    this.#volume.disk.setAttributes(inode, { mode });
    this.#notify(path);
  }

  futimes(fd: number, mtimeUs: number): void {
    const { inode, path } = this.#gate.ofOpen('futimes', fd, 'some');
    this.#volume.disk.setAttributes(inode, { mtimeMs: mtimeUs / 1_000 });
    this.#notify(path);
  }

  lutimes(absolute: string, mtimeUs: number): void {
    this.#volume.disk.utimes(this.#gate.there('lutimes', absolute, 'some'), mtimeUs / 1_000);
  }

  link(existing: string, absolute: string): void {
    const from = this.#gate.there('link', existing, 'needs room');
    const to = this.#gate.there('link', absolute, 'none');
    this.#checkWritable(to);
    this.#volume.disk.link(from, to);
    if (isInFolder(from)) this.#options.replacements.held(this.#placeOf(from), this.#volume.disk.inodeAt(from));
    this.#placed(to);
  }

  rename(from: string, absolute: string): void {
    const source = this.#gate.there('rename', from, 'some');
    const target = this.#gate.there('rename', absolute, 'none');
    this.#checkWritable(source);
    this.#checkWritable(target);
    const replaced = this.#volume.disk.at(target);
    this.#volume.disk.rename(source, target);
    if (replaced !== undefined && isInFolder(target))
      this.#options.replacements.replaces(this.#placeOf(target), replaced);
    // An entry that is already in the folder may be rotten, and is not read for a rename.
    if (!isInFolder(source)) this.#placed(target);
  }

  unlink(absolute: string): void {
    const path = this.#gate.there('unlink', absolute, 'some');
    this.#checkWritable(path);
    this.#volume.disk.unlink(path);
  }

  symlink(target: string, absolute: string): void {
    const path = this.#gate.there('symlink', absolute, 'needs room');
    this.#checkWritable(path);
    this.#volume.disk.symlink(path, target);
  }

  mkdir(absolute: string, mode: number): void {
    const path = this.#gate.there('mkdir', absolute, 'needs room');
    if (this.#volume.disk.at(path) !== undefined) throw new DiskError('EEXIST', absolute);
    this.#checkWritable(path);
    this.#volume.disk.mkdir(path, mode);
  }

  rmdir(absolute: string): void {
    const path = this.#gate.there('rmdir', absolute, 'some');
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
    const path = this.#gate.there('copyFile', absolute, 'needs room');
    if (source.content === undefined) throw new DiskError('EISDIR', from);
    disk.change(disk.create(path, source.mode), source.content);
  }

  statfs(absolute: string): FileSystemStats {
    this.#gate.there('statfs', absolute, 'none');
    const bavail = this.#volume.full === 'disk' ? 0 : blocksOfDisk;
    return { type: fileSystemType, bsize: blockSizeBytes, blocks: blocksOfDisk, bavail, files: 0, ffree: 0 };
  }

  fileSystemId(absolute: string): string {
    return String(this.#inode('fileSystemId', absolute).device.number);
  }

  syncFileSystem(absolute: string): boolean {
    this.#gate.there('syncFileSystem', absolute, 'some');
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

  /** Simulated users open a file for one write only. */
  writtenFiles(): Iterable<string> {
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
    const path = this.#gate.there(call, absolute, 'none');
    const { disk } = this.#volume;
    const { children, mode } = disk.inodeAt(path);
    if (children === undefined) throw new DiskError('ENOTDIR', absolute);
    if ((mode & ownerMay.read) === 0) throw new DiskError('EACCES', absolute);
    return children;
  }

  #inode(call: keyof SystemCalls, absolute: string): Inode {
    return this.#volume.disk.inodeAt(this.#gate.there(call, absolute, 'none'));
  }

  #checkWritable(path: string): void {
    if ((this.#volume.disk.parentAt(path).mode & ownerMay.write) === 0) throw new DiskError('EACCES', path);
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
