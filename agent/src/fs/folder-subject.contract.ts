import type { ContentId } from '@lockstep/shared';
import { expect, vi } from 'vitest';
import type { Fingerprint } from '../core/entry.ts';
import type { Action, ActionRequest, ActionResult, Folder } from '../sync/ports/folder.ts';
import type { Observation, ScannedDirectory } from '../sync/ports/observation.ts';

/** An entry as a user sees it. */
export interface FoundEntry {
  readonly type: 'file' | 'directory' | 'symlink';
  readonly bytes?: Uint8Array;
  readonly target?: string;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeUs: number;
}

/** A user who changes the folder. */
export interface FolderUser {
  /** Writes a file in place: an existing one keeps its inode. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  mkdir(path: string): Promise<void>;
  symlink(path: string, target: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a tree. */
  remove(path: string): Promise<void>;
  look(path: string): Promise<FoundEntry | undefined>;
}

/** A folder under test, empty at first, with a user next to the agent. */
export interface FolderSubject {
  readonly folder: Folder;
  readonly user: FolderUser;
  /** The content id of bytes in this adapter. */
  identify(bytes: Uint8Array): { readonly content: ContentId; readonly blocks?: Uint8Array | undefined };
  /** Resolves when file times have advanced. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

export type OpenSubject = () => Promise<FolderSubject>;

type WriteAction = Extract<Action, { do: 'write' }>;

/** Long ago, so that no fingerprint is racy, with microseconds that must be kept. */
export const mtimeUs = 1_600_000_000_123_457;

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** As `toEqual`, which takes seconds for megabytes. */
export function expectBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  expect(found?.length).toBe(expected.length);
  expect(found?.every((byte, index) => byte === expected[index])).toBe(true);
}

/** Flushes the hints until all have come. On a busy machine the event of a flush may take so long that it counts as lost. */
export async function untilFlushed(folder: Folder): Promise<void> {
  await vi.waitFor(async () => expect(await folder.flushHints()).toBe(true), 20_000);
}

export function textOf(entry: FoundEntry | undefined): string | undefined {
  return entry?.bytes && new TextDecoder().decode(entry.bytes);
}

/** A request to write `text` at `path`. Its source is the bytes themselves by default. */
export function writeRequest(
  subject: FolderSubject,
  path: string,
  text: string | Uint8Array,
  more: Partial<WriteAction> & { keep?: ContentId | undefined } = {},
): ActionRequest {
  const bytes = typeof text === 'string' ? bytesOf(text) : text;
  const { keep, ...rest } = more;
  const action: Action = {
    do: 'write',
    path,
    expected: 'absent',
    ...subject.identify(bytes),
    size: bytes.length,
    mode: 0o644,
    mtimeUs,
    source: { from: 'bytes', bytes },
    ...rest,
  };
  return { action, keep };
}

/** Executes one action and expects it to be done. */
export async function doOne(subject: FolderSubject, request: ActionRequest | Action): Promise<Fingerprint> {
  const result = await tryOne(subject, request);
  expect(result).toMatchObject({ result: 'done' });
  if (result.result !== 'done' || result.fingerprint === undefined) throw new Error('no fingerprint was left');
  return result.fingerprint;
}

/** Executes one action. */
export async function tryOne(subject: FolderSubject, request: ActionRequest | Action): Promise<ActionResult> {
  const [result] = await subject.folder.apply(['do' in request ? { action: request } : request]);
  if (result === undefined) throw new Error('no result');
  return result;
}

export async function observeOne(subject: FolderSubject, path: string, expected?: Fingerprint): Promise<Observation> {
  const [observation] = await subject.folder.observe([{ path, expected }]);
  if (observation === undefined) throw new Error('no observation');
  return observation;
}

/** The fingerprint of the entry at `path`, as an observation finds it. */
export async function fingerprintAt(subject: FolderSubject, path: string): Promise<Fingerprint> {
  const observation = await observeOne(subject, path);
  if (!('fingerprint' in observation)) throw new Error(`${path} is ${observation.state}`);
  return observation.fingerprint;
}

/** All directories that a scan reports, in its order. */
export async function scanAll(
  subject: FolderSubject,
  directory = '',
  options: Partial<Parameters<Folder['scan']>[1]> = {},
): Promise<ScannedDirectory[]> {
  const found: ScannedDirectory[] = [];
  for await (const chunk of subject.folder.scan(directory, { recursive: true, skip: () => false, ...options })) {
    found.push(...chunk);
  }
  return found;
}
