import { type MemberId, memberPath, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { fingerprintOf } from '../../sim/disk/inode.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Folder } from '../ports/folder.ts';
import { LocalChanges } from './local-changes.ts';

const bee = 'bee' as MemberId;
const never = new Promise<void>(() => undefined);

/** A member whose folder was scanned once, and is empty. */
async function watched(around?: (folder: Folder) => Folder, options?: { readonly keepsBirths: boolean }) {
  const member = new LoneMember(around, options);
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  return { member, changes };
}

/** A folder that can hold back its observations of files until they are released. */
class SlowFolder {
  #released: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  #isHeld: () => void = () => undefined;

  /** Holds back the next observation. Resolves once it has been made. */
  hold(): Promise<void> {
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
    return new Promise((resolve) => {
      this.#isHeld = resolve;
    });
  }

  letGo(): void {
    this.#release();
  }

  around(folder: Folder): Folder {
    return withMethod(folder, 'observe', async (...given) => {
      const seen = await folder.observe(...given);
      this.#isHeld();
      await this.#released;
      return seen;
    });
  }
}

/** `folder` with another method of this name. */
function withMethod<Name extends keyof Folder>(folder: Folder, name: Name, method: Folder[Name]): Folder {
  return new Proxy(folder, {
    get: (target, asked) => {
      if (asked === name) return method;
      const value: unknown = Reflect.get(target, asked, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('[AK5] a file that is renamed during a wait, before it was journaled, is journaled under its new name', async () => {
  const { member, changes } = await watched();
  const { disk } = member.volume;
  const film = virtualContent('film', 3_000_000);
  disk.write('film.part', film);
  let heads: unknown;
  const settled = changes.settleAll('', never).then(() => {
    heads = member.journal.heads.at('film');
  });
  // A large file is not read before it has rested for a moment.
  await member.passes(10);
  expect(member.journal.heads.at('film.part')).toEqual([]);
  disk.rename('film.part', 'film');
  await member.passes(10_000);
  await settled;
  expect(heads).toMatchObject([{ content: film.id }]);
});

test('[AK5] a detection that began before the call, and saw an older version, does not end a wait', async () => {
  const slow = new SlowFolder();
  const { member, changes } = await watched((folder) => slow.around(folder));
  const held = slow.hold();
  const { disk } = member.volume;
  disk.write('saved', contentOfText('the first half'));
  await member.passes(1_000);
  await held;
  const whole = contentOfText('the first half and the rest');
  disk.write('saved', whole);
  let heads: unknown;
  const settled = changes.settleAll('', never).then(() => {
    heads = member.journal.heads.at('saved');
  });
  await member.passes(1_000);
  slow.letGo();
  await member.passes(10_000);
  await settled;
  expect(heads).toMatchObject([{ content: whole.id }]);
  expect(member.errors).toEqual([]);
});

// The simulator's seed 139272, and what came before it there: the file had been taken for a renamed one, unread.
test('[AK5] [LC17] a wait goes on until the copy of a doubtful file is journaled', async () => {
  const member = new LoneMember();
  const { journal, volume } = member;
  // The files of this test are as those that an earlier run of the agent has left.
  const context = { ...member.context, startedAtMs: Number.MAX_SAFE_INTEGER };
  const changes = new LocalChanges(context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  const record = { id: bee, name: 'bee', addresses: [], membership: 'joined' } as const;
  const joined = member.operation(memberPath(bee), { kind: 'member' }, { origin: 'bee.1' as OriginId });
  const put = member.operation('file', { kind: 'put', text: 'of bee' }, { origin: 'bee.1' as OriginId });
  member.received({ ...joined, member: record }, put);
  context.others.heard(bee, { vector: journal.log.known(), ranges: {} });
  const doubtful = contentOfText('doubts');
  volume.disk.write('file', doubtful);
  const fingerprint = fingerprintOf(volume.disk.inodeAt('file'));
  const { origin, seq, content } = put;
  journal.disk.record([{ path: 'file', entry: { dot: { origin, seq }, content, fingerprint, racy: true } }]);
  let journaled: unknown;
  const settled = changes.settleAll('', never).then(() => {
    journaled = journal.heads.withContent(doubtful.id);
  });
  await member.passes(10_000);
  await settled;
  expect(journaled).toMatchObject({ kind: 'put', path: expect.stringMatching(/^file\.conflict-/) });
  expect(member.errors).toEqual([]);
});

test('[AK5] [LC30] a wait goes on until a large file that was taken for a renamed one is read', async () => {
  const { member, changes } = await watched(undefined, { keepsBirths: false });
  const { disk } = member.volume;
  disk.write('old', virtualContent('old', 3_000_000));
  await member.passes(10_000);
  const { mtimeMs } = fingerprintOf(disk.inodeAt('old'));
  const other = virtualContent('other', 3_000_000);
  disk.unlink('old');
  disk.write('new', other);
  disk.utimes('new', mtimeMs);
  let heads: unknown;
  const settled = changes.settleAll('', never).then(() => {
    heads = member.journal.heads.at('new');
  });
  await member.passes(10_000);
  await settled;
  expect(member.journal.log.rows({ path: 'new', afterRow: 0, limit: 1 })).toMatchObject([
    { operation: { from: 'old' } },
  ]);
  expect(heads).toMatchObject([{ content: other.id }]);
});

test('[AK5] a scan that has not come to its end when the caller gives up is not taken for a folder without changes', async () => {
  let release = (): void => undefined;
  let held: Promise<void> | undefined;
  const { member, changes } = await watched((folder) =>
    withMethod(folder, 'scan', async function* (...given) {
      await held;
      yield* folder.scan(...given);
    }),
  );
  held = new Promise((resolve) => {
    release = resolve;
  });
  expect(await changes.settleAll('', Promise.resolve())).toEqual({ unsettled: [''], unread: [] });
  release();
  const settled = changes.settleAll('', never);
  await member.passes(10_000);
  expect(await settled).toEqual({ unsettled: [], unread: [] });
});

test('[AK5] [WT3] more changes than may wait in memory are journaled before a wait ends', async () => {
  const member = new LoneMember();
  const changes = new LocalChanges(member.context, member.operationWriter, { pathsMax: 20 });
  const started = changes.start();
  await member.passes(10_000);
  await started;
  const { disk } = member.volume;
  const names = Array.from({ length: 40 }, (_, index) => `d-${index}`);
  for (const name of names) {
    disk.mkdir(name);
    for (let file = 0; file < 30; file++) disk.write(`${name}/file-${file}`, contentOfText(`${name} ${file}`));
  }
  const settled = changes.settleAll('', never);
  await member.passes(60_000);
  expect(await settled).toEqual({ unsettled: [], unread: [] });
  expect(member.journal.heads.under('', undefined, 10_000)).toHaveLength(40 * 31);

  for (const name of names) {
    for (let file = 0; file < 30; file++) disk.unlink(`${name}/file-${file}`);
    disk.rmdir(name);
  }
  const removed = changes.settleAll('', never);
  await member.passes(60_000);
  expect(await removed).toEqual({ unsettled: [], unread: [] });
  const heads = member.journal.heads.under('', undefined, 10_000);
  expect(heads.filter(({ kind }) => kind !== 'delete')).toEqual([]);
});
