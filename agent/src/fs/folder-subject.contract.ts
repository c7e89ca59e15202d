import type { ContentId } from '@lockstep/shared';
import { expect } from 'vitest';
import type { Fingerprint } from '../core/entry.ts';
import type {
  Action,
  ActionRequest,
  ActionResult,
  Folder,
  Observation,
  ScannedDirectory,
} from '../sync/ports/folder.ts';

/** What somebody who is not the agent finds at a path. */
export interface FoundEntry {
  readonly type: 'file' | 'directory' | 'symlink';
  readonly bytes?: Uint8Array;
  readonly target?: string;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeUs: number;
}

/** The hands of a user in the folder. */
export interface FolderUser {
  /** Writes a file in place: an existing one keeps its identity. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  mkdir(path: string): Promise<void>;
  symlink(path: string, target: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a tree. */
  remove(path: string): Promise<void>;
  look(path: string): Promise<FoundEntry | undefined>;
}

/** A folder under test, empty at first, with a user beside the agent. */
export interface FolderSubject {
  readonly folder: Folder;
  readonly user: FolderUser;
  /** What this adapter's content ids are. */
  identify(bytes: Uint8Array): { readonly content: ContentId; readonly blocks?: Uint8Array | undefined };
  /** Resolves when file times have advanced. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

export type OpenSubject = () => Promise<FolderSubject>;

type WriteAction = Extract<Action, { do: 'write' }>;

/** Long ago, so that no fingerprint is racy, with microseconds that must survive. */
export const mtimeUs = 1_600_000_000_123_457;

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** As `toEqual`, which takes seconds for megabytes. */
export function expectBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  expect(found?.length).toBe(expected.length);
  expect(found?.every((byte, index) => byte === expected[index])).toBe(true);
}

export function textOf(entry: FoundEntry | undefined): string | undefined {
  return entry?.bytes && new TextDecoder().decode(entry.bytes);
}

/** A request to write `text` at `path`, whole in the request unless said otherwise. */
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

/** Carries out one action and expects that it is done. */
export async function doOne(subject: FolderSubject, request: ActionRequest | Action): Promise<Fingerprint> {
  const result = await tryOne(subject, request);
  expect(result).toMatchObject({ result: 'done' });
  if (result.result !== 'done' || result.fingerprint === undefined) throw new Error('no fingerprint was left');
  return result.fingerprint;
}

/** Carries out one action. */
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

/** The fingerprint of what stands at `path`, as a look finds it. */
export async function fingerprintAt(subject: FolderSubject, path: string): Promise<Fingerprint> {
  const observation = await observeOne(subject, path);
  if (!('fingerprint' in observation)) throw new Error(`${path} is ${observation.state}`);
  return observation.fingerprint;
}

/** Everything a scan reports, in its order. */
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
