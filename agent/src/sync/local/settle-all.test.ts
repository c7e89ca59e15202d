import { expect, test } from 'vitest';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Folder } from '../ports/folder.ts';
import { LocalChanges } from './local-changes.ts';

const never = new Promise<void>(() => undefined);

/** A member whose folder was scanned once, and is empty. */
async function watched(around?: (folder: Folder) => Folder) {
  const member = new LoneMember(around);
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
