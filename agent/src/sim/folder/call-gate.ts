import { joinPath } from '@lockstep/shared';
import type { SystemCalls } from '../../fs/system-calls.ts';
import type { Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { WallClock } from '../base/sim-clock.ts';
import { DiskError, type DiskErrorCode } from '../disk/disk-error.ts';
import { descriptorIn, placeOf, walk } from '../disk/path-walk.ts';
import type { Volume } from '../disk/volume.ts';
import type { OpenFile, OpenFiles } from './open-files.ts';

/** The paths of the folder and the state for an agent. */
export const folderRoot = '/folder';
export const stateRoot = '/state';

/** Their results only direct later calls. */
const callsThatCompare: ReadonlySet<keyof SystemCalls> = new Set(['lstat', 'stat']);

/** These need no permission any more. */
const callsOfOpenFiles: ReadonlySet<keyof SystemCalls> = new Set(['fstat', 'read', 'write', 'fsync', 'mtimeNs']);

/** The effect of a call on the disk: none, some, or one that needs room. */
type Effect = 'none' | 'some' | 'needs room';

export interface CallGateOptions {
  readonly volume: Volume;
  readonly life: Life;
  readonly random: Random;
  readonly wall: WallClock;
  /** The longest duration of one call. */
  readonly callMsMax: number;
  /** Called before each call on `path`, so that others can act. A path of the folder is relative to it. */
  readonly between: (path: string) => void;
  /** Called if the agent followed this link to change or read something. */
  readonly followed: (link: string) => void;
}

/** Acts before each system call: time passes, other users act, and the call may fail or be the last one of its agent. */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #volume: Volume;
  readonly #files: OpenFiles;

  constructor(options: CallGateOptions, files: OpenFiles) {
    this.#options = options;
    this.#volume = options.volume;
    this.#files = files;
  }

  /** Precedes a call on an open file. */
  ofOpen(call: keyof SystemCalls, fd: number, effect: Effect): OpenFile {
    this.#happen(call, this.#files.find(fd)?.path ?? '/', effect);
    return this.#files.get(fd);
  }

  /** Precedes a call with a path, as `begin`. Throws if the path does not exist. */
  there(call: keyof SystemCalls, absolute: string, effect: Effect): string {
    const path = this.begin(call, absolute, effect);
    if (path === undefined) throw new DiskError('ENOENT', absolute);
    return path;
  }

  /** Precedes each call with a path. Returns the path on the disk, or undefined if it does not exist. */
  begin(call: keyof SystemCalls, absolute: string, effect: Effect): string | undefined {
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
}

/** True for a path of the folder, which is relative to it. */
export function isInFolder(path: string): boolean {
  return !path.startsWith('/');
}

/** Converts a path of the agent to one of the disk. */
function pathOf(absolute: string): string {
  if (absolute === folderRoot || absolute === `${folderRoot}/.`) return '';
  return absolute.startsWith(`${folderRoot}/`) ? absolute.slice(folderRoot.length + 1) : absolute;
}
