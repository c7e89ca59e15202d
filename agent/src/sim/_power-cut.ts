import { parentOf } from '@lockstep/shared';
import { expect } from 'vitest';
import { ApplyLoop } from '../sync/apply/apply-loop.ts';
import { RenameGate } from '../sync/apply/rename-gate.ts';
import { PowerCutCheck } from '../sync/durability/power-cut-check.ts';
import { WriteBack } from '../sync/durability/write-back.ts';
import { Confirmer } from '../sync/integrity/confirmer.ts';
import { LocalChanges } from '../sync/local/local-changes.ts';
import { type Content, contentOfText } from './disk/content.ts';
import { LoneMember } from './lone-member.ts';

export const quiet = (): void => undefined;
export const first = contentOfText('the first version');
export const second = contentOfText('the second version, which is longer');

export let member: LoneMember;
export let changes: LocalChanges;

/** Starts the watcher, and waits until the whole folder was compared with the journal. */
export async function startAgent(): Promise<void> {
  changes = new LocalChanges(member.context, member.operationWriter, { rescanIntervalMs: 600_000 });
  const started = changes.start();
  await member.passes(3_000);
  await started;
}

/** A user writes a file, which is journaled; no sync has made it durable. */
export async function writes(path: string, content: Content): Promise<void> {
  const directory = parentOf(path);
  if (member.volume.disk.at(directory) === undefined) member.volume.disk.mkdir(directory);
  member.volume.disk.write(path, content);
  await member.passes(3_000);
  expect(member.journal.heads.at(path)).toMatchObject([{ content: content.id }]);
  expect(member.journal.disk.at(path)).toMatchObject({ unsynced: true });
}

/** Sets the content that the power cut left at the path, with times `earlierMs` before those of the file. */
export function isLeft(path: string, content: Content, earlierMs = 0): void {
  const inode = member.volume.disk.at(path);
  if (inode === undefined) throw new Error(`${path} is not there`);
  inode.content = content;
  inode.mtimeMs -= earlierMs;
  inode.ctimeMs -= earlierMs;
}

/** Starts the agent in a boot of its machine. True if the check requests actions for its results. */
export async function begins(id: string | undefined, beganMs = 0): Promise<boolean> {
  changes.stop();
  let isFound = false;
  const check = new PowerCutCheck(member.context);
  check.begin(id === undefined ? undefined : { id, beganMs }, () => {
    isFound = true;
  });
  await startAgent();
  check.stop();
  return isFound;
}

/** Starts the loops that sync, read unconfirmed files again and apply contents. */
export function repairs(): void {
  const { context, journal, transfers } = member;
  new Confirmer(context, () => false).poke();
  new WriteBack(context).poke();
  new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => [])).poke();
}

export const reported = (): readonly Record<string, unknown>[] =>
  member.journal.events
    .after(0, 100)
    .filter(({ kind }) => kind === 'power-cut')
    .map(({ data }) => data);

export const operations = (): number => member.journal.log.length();
export const copies = (): readonly string[] =>
  [...member.volume.disk.entries()].map(([path]) => path).filter((path) => path.includes('.conflict-'));
/** A new member that has compared its folder, in its first boot. */
export async function openMember(made = new LoneMember()): Promise<void> {
  member = made;
  await startAgent();
  await begins('boot-1');
}
