import { type ContentId, parentOf } from '@lockstep/shared';
import type { Action, ActionRequest, ActionResult, ContentSource, Expected } from '../sync/ports/folder.ts';
import { type Content, contentOfBytes } from './content.ts';
import { DiskError, fingerprintOf, type Inode, sameFingerprint } from './disk.ts';
import type { Life } from './life.ts';
import type { Volume } from './volume.ts';

/** An entry looked at within this time of its last change may change again without a trace: file times are coarse. */
const racyMs = 50;

const changed: ActionResult = { result: 'changed' };

function inTheWay(path: string): ActionResult {
  return { result: 'problem', code: 'path-in-the-way', detail: `A pipe stands at ${path}: move it away.` };
}

function otherDevice(path: string): ActionResult {
  return { result: 'problem', code: 'path-in-the-way', detail: `${path} lies on another file system.` };
}

type Write = Extract<Action, { do: 'write' }>;

/** What is ready in staging for an action, or why nothing is. */
export type Prepared = { readonly inode: Inode } | { readonly failed: ActionResult } | undefined;

/** Hears of everything that an agent puts into its folder. */
export type PlacedListener = (path: string, content: Content) => void;

/** True when a change after a look at `wallMs` could leave the fingerprint that the inode has now. */
export function isRacy(inode: Inode, wallMs: number): boolean {
  const sinceModificationMs = wallMs - inode.mtimeMs;
  return Math.abs(wallMs - inode.ctimeMs) < racyMs || (sinceModificationMs >= 0 && sinceModificationMs < racyMs);
}

/** As `isRacy`, for a file just placed with a chosen time: whoever writes to it now gives it the present one. */
function isRacyAfterPlacing(inode: Inode, wallMs: number): boolean {
  return inode.type === 'file' && Math.abs(wallMs - inode.mtimeMs) < racyMs;
}

/** The fingerprint test of the real adapter: of a directory only identity and mode count, its times move with its entries. */
export function matches(inode: Inode | undefined, expected: Expected): boolean {
  if (inode === undefined || expected === 'absent') return inode === undefined && expected === 'absent';
  const found = fingerprintOf(inode);
  if (inode.type === 'directory') return found.ino === expected.ino && found.mode === expected.mode;
  return sameFingerprint(found, expected);
}

/**
 * Carries out one action at a time in the step order of DESIGN 6. A crash can come between any two steps. Nobody can edit
 * between the look at the target and the rename: that window is the declared one.
 */
export class SimApply {
  readonly #volume: Volume;
  readonly #life: Life;
  readonly #wallMs: () => number;
  readonly #placed: PlacedListener;

  constructor(options: { volume: Volume; life: Life; wallMs: () => number; placed: PlacedListener }) {
    this.#volume = options.volume;
    this.#life = options.life;
    this.#wallMs = options.wallMs;
    this.#placed = options.placed;
  }

  /** The staging step: content is checked before anything of it can be seen. */
  prepare(action: Action): Prepared {
    if (action.do !== 'write' && action.do !== 'symlink') return undefined;
    if (this.#volume.full) {
      return { failed: { result: 'problem', code: 'disk-full', detail: 'The disk is full: make room.' } };
    }
    if (action.do === 'symlink') {
      const inode = this.#volume.disk.newSymlink(action.target);
      inode.mtimeMs = action.mtimeUs / 1000;
      return { inode };
    }
    return this.#prepareWrite(action);
  }

  /** The steps from the look at the target to the rename. */
  commit(request: ActionRequest, prepared: Prepared): ActionResult {
    if (prepared !== undefined && 'failed' in prepared) return prepared.failed;
    try {
      return this.#carryOut(request, prepared);
    } catch (error) {
      if (!(error instanceof DiskError) || (error.code !== 'EBUSY' && error.code !== 'EXDEV')) throw error;
      return otherDevice('path' in request.action ? request.action.path : request.action.to);
    }
  }

  #carryOut({ action, keep }: ActionRequest, prepared: Exclude<Prepared, { failed: ActionResult }>): ActionResult {
    switch (action.do) {
      case 'write':
      case 'symlink':
        return prepared === undefined ? changed : this.#place(action.path, action.expected, prepared.inode, keep);
      case 'rename':
        return this.#rename(action, keep);
      case 'rename-directory':
        return this.#renameDirectory(action);
      case 'mkdir':
        return this.#mkdir(action, keep);
      case 'attr':
        return this.#attr(action);
      case 'unlink':
        return this.#unlink(action, keep);
      case 'rmdir':
        return this.#rmdir(action.path);
    }
  }

  /** The content that a source has now. */
  contentAt(source: ContentSource, content: ContentId): Content | undefined {
    const found = this.#read(source, content);
    return found?.id === content ? found : undefined;
  }

  #read(source: ContentSource, content: ContentId): Content | undefined {
    switch (source.from) {
      case 'bytes':
        return contentOfBytes(source.bytes);
      case 'staged':
        return this.#volume.staged(content);
      case 'history':
        return this.#volume.history.get(content)?.content;
      case 'file':
        return this.#volume.disk.at(source.path)?.content;
    }
  }

  #prepareWrite(action: Write): Prepared {
    const content = this.contentAt(action.source, action.content);
    if (content === undefined) {
      // A kept version that a power cut tore, or that somebody wrote to since.
      if (action.source.from === 'history') this.#volume.forget(action.content);
      return { failed: { result: 'source-gone' } };
    }
    const inode = this.#volume.disk.newFile(content, action.mode);
    inode.mtimeMs = action.mtimeUs / 1000;
    return { inode };
  }

  #place(path: string, expected: Expected, inode: Inode, keep: ContentId | undefined): ActionResult {
    const { disk } = this.#volume;
    const refused = this.#refusal(path, expected);
    if (refused !== undefined) return refused;
    const existing = disk.at(path);
    if (existing?.type === 'directory') {
      const kept = this.#removeDirectory(path, existing);
      if (kept !== undefined) return kept;
    }
    this.#keep(existing, keep);
    disk.place(path, inode);
    if (inode.content !== undefined) this.#placed(path, inode.content);
    return this.#done(path);
  }

  #rename(action: Extract<Action, { do: 'rename' }>, keep: ContentId | undefined): ActionResult {
    const { disk } = this.#volume;
    const refused = this.#refusal(action.from, action.expectedFrom) ?? this.#refusal(action.to, action.expected);
    if (refused !== undefined) return refused;
    const existing = disk.at(action.to);
    if (existing?.type === 'directory') {
      const kept = this.#removeDirectory(action.to, existing);
      if (kept !== undefined) return kept;
    }
    this.#keep(existing, keep);
    disk.rename(action.from, action.to);
    this.#life.effect();
    this.#setAttributes(action.to, action.mode, action.mtimeUs);
    return this.#done(action.to);
  }

  #renameDirectory(action: Extract<Action, { do: 'rename-directory' }>): ActionResult {
    const { disk } = this.#volume;
    const refused = this.#refusal(action.from, action.expectedFrom) ?? this.#refusal(action.to, 'absent');
    if (refused !== undefined) return refused;
    const known = new Set(action.names);
    let found = 0;
    for (const [path] of disk.entries(action.from)) {
      if (path === action.from) continue;
      if (!known.has(path.slice(action.from.length + 1))) return changed;
      found += 1;
    }
    if (found !== known.size) return changed;
    disk.rename(action.from, action.to);
    this.#life.effect();
    this.#setAttributes(action.to, action.mode, undefined);
    return this.#done(action.to);
  }

  #mkdir(action: Extract<Action, { do: 'mkdir' }>, keep: ContentId | undefined): ActionResult {
    const { disk } = this.#volume;
    const refused = this.#refusal(action.path, action.expected);
    if (refused !== undefined) return refused;
    const existing = disk.at(action.path);
    if (existing?.type === 'directory') {
      this.#setAttributes(action.path, action.mode, undefined);
      return this.#done(action.path);
    }
    if (existing !== undefined) {
      // No system call turns a file into a directory: for a moment the name is gone.
      this.#keep(existing, keep);
      disk.unlink(action.path);
      this.#life.effect();
    }
    disk.mkdir(action.path, action.mode);
    return this.#done(action.path);
  }

  #attr(action: Extract<Action, { do: 'attr' }>): ActionResult {
    const refused = this.#refusal(action.path, action.expected);
    if (refused !== undefined) return refused;
    this.#setAttributes(action.path, action.mode, action.mtimeUs);
    return this.#done(action.path);
  }

  #unlink(action: Extract<Action, { do: 'unlink' }>, keep: ContentId | undefined): ActionResult {
    const { disk } = this.#volume;
    const refused = this.#refusal(action.path, action.expected);
    if (refused !== undefined) return refused;
    const existing = disk.at(action.path);
    if (existing?.type === 'directory') return changed;
    this.#keep(existing, keep);
    disk.unlink(action.path);
    return { result: 'done' };
  }

  #rmdir(path: string): ActionResult {
    const existing = this.#volume.disk.at(path);
    if (existing === undefined) return { result: 'done' };
    if (existing.type !== 'directory' || existing.children?.size !== 0) return changed;
    this.#volume.disk.rmdir(path);
    return { result: 'done' };
  }

  #keep(inode: Inode | undefined, keep: ContentId | undefined): void {
    if (inode?.type !== 'file' || keep === undefined) return;
    this.#volume.keep(keep, inode);
    this.#life.effect();
  }

  #setAttributes(path: string, mode: number | undefined, mtimeUs: number | undefined): void {
    const { disk } = this.#volume;
    const inode = disk.at(path);
    if (inode === undefined) return;
    if (mode !== undefined && inode.mode !== mode && inode.type !== 'symlink') disk.chmod(path, mode);
    if (mtimeUs !== undefined && inode.mtimeMs !== mtimeUs / 1000) disk.utimes(path, mtimeUs / 1000);
  }

  /** Makes room for what is no directory. Where only pipes are left in this one it stays, and that is said. */
  #removeDirectory(path: string, { children }: Inode): ActionResult | undefined {
    const left = [...(children?.values() ?? [])];
    if (left.length > 0) return left.every(({ type }) => type === 'special') ? inTheWay(path) : changed;
    this.#volume.disk.rmdir(path);
    this.#life.effect();
    return undefined;
  }

  /** Why the action may not go on, if so: no directory to hold the path, or something else there than expected. */
  #refusal(path: string, expected: Expected): ActionResult | undefined {
    const { disk } = this.#volume;
    const parent = disk.at(parentOf(path));
    if (parent?.type !== 'directory') return changed;
    const existing = disk.at(path);
    if (existing?.type === 'special') {
      return inTheWay(path);
    }
    if (!matches(existing, expected)) return changed;
    // Nothing is renamed from staging or to history there.
    return parent.device === disk.device ? undefined : otherDevice(path);
  }

  #done(path: string): ActionResult {
    const inode = this.#volume.disk.at(path);
    if (inode === undefined) return changed;
    return { result: 'done', fingerprint: fingerprintOf(inode), racy: isRacyAfterPlacing(inode, this.#wallMs()) };
  }
}
