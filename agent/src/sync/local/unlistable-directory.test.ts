import type { ProblemCode } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Folder } from '../ports/folder.ts';
import type { ScannedDirectory } from '../ports/observation.ts';
import { LocalChanges } from './local-changes.ts';

/** A folder whose directory `closed` cannot be listed while `isClosed`; its own entry can be seen. */
function closable(isClosed: () => boolean, code: ProblemCode = 'path-permission'): (folder: Folder) => Folder {
  const problem = { code, detail: 'closed cannot be read.' };
  return scanning((scanned) =>
    scanned.path === 'closed' && isClosed() ? { ...scanned, entries: [], problem } : scanned,
  );
}

/** A folder whose listings are changed by `change`. */
function scanning(change: (scanned: ScannedDirectory) => ScannedDirectory): (folder: Folder) => Folder {
  return (folder) =>
    new Proxy(folder, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'scan') {
          return async function* (...given: Parameters<Folder['scan']>) {
            for await (const chunk of target.scan(...given)) yield chunk.map(change);
          };
        }
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}

test('[WT6] a missing folder is one problem of the folder, not of its paths', async () => {
  const member = new LoneMember();
  member.volume.disk.mkdir('directory');
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  member.volume.missing = true;
  changes.mark('directory');
  changes.scan('', true);
  changes.scan('directory', true);
  await member.passes(2_000);
  expect(member.context.problems.list().map(({ code, path }) => [code, path])).toEqual([['folder-missing', undefined]]);
});

test('[LC15] a directory that cannot be listed is reported until it can, even if its own entry is observed', async () => {
  let isClosed = false;
  const member = new LoneMember(closable(() => isClosed));
  const { problems } = member.context;
  member.volume.disk.mkdir('closed');
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  isClosed = true;
  changes.scan('', true);
  await member.passes(1_000);
  changes.mark('closed');
  await member.passes(5_000);
  expect(problems.list()).toMatchObject([{ code: 'path-permission', path: 'closed' }]);
  isClosed = false;
  changes.scan('', true);
  await member.passes(5_000);
  expect(problems.list()).toEqual([]);
  expect(member.errors).toEqual([]);
});

test('[LC15] a file that was unreadable for long is read soon after an event, and its retries hold up no delete', async () => {
  const member = new LoneMember();
  const { disk } = member.volume;
  disk.write('closed', contentOfText('closed'), 0);
  for (const path of ['first', 'second']) disk.write(path, contentOfText(path));
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(900_000);
  await started;
  const live = (): readonly string[] => member.journal.tree.liveChildren('', undefined, 10).map(({ path }) => path);
  expect(live()).toEqual(['first', 'second']);
  // The scan before the first delete finds the closed file again.
  disk.unlink('first');
  await member.passes(5_000);
  expect(live()).toEqual(['second']);
  disk.chmod('closed', 0o644);
  await member.passes(5_000);
  expect(live()).toEqual(['closed', 'second']);
  expect(member.errors).toEqual([]);
});

test('[WT22] an entry that a listing could not describe is observed', async () => {
  const member = new LoneMember(
    scanning((scanned) => ({
      ...scanned,
      entries: scanned.entries.filter(({ name }) => name !== 'bad'),
      unreadable: ['bad'],
    })),
  );
  for (const path of ['bad', 'good']) member.volume.disk.write(path, contentOfText(path));
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  expect(member.journal.tree.liveChildren('', undefined, 10).map(({ path }) => path)).toEqual(['bad', 'good']);
});

test('[AK5] a directory stays unread if the folder was out of reach for a moment while it was listed', async () => {
  let isClosed = true;
  const member = new LoneMember(closable(() => isClosed, 'folder-missing'));
  member.volume.disk.mkdir('closed');
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(1_000);
  expect(changes.unread('')).toEqual(['closed']);
  isClosed = false;
  await member.passes(10_000);
  await started;
  expect(changes.unread('')).toEqual([]);
});

test('[LC10] a scan withdraws no problem that was reported while it ran', async () => {
  let isMade = true;
  const member = new LoneMember(
    scanning((scanned) => {
      // A detection examines an entry that was made after its directory was listed.
      if (scanned.path === '' && isMade) report();
      return scanned;
    }),
  );
  const { problems } = member.context;
  const report = (): void => problems.set('path-not-utf8', { path: 'link' }, 'The target of the link is not UTF-8.');
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  expect(problems.list()).toMatchObject([{ path: 'link' }]);
  changes.scan('', false);
  await member.passes(1_000);
  expect(problems.list()).toMatchObject([{ path: 'link' }]);
  isMade = false;
  changes.scan('', false);
  await member.passes(1_000);
  expect(problems.list()).toEqual([]);
});

test('[LC14] the problem of a directory that cannot be listed stays while the directory is observed, and ends with it', async () => {
  const member = new LoneMember();
  const { disk } = member.volume;
  disk.mkdir('closed');
  disk.chmod('closed', 0o300);
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  const codes = () => member.context.problems.list().map(({ code, path }) => `${code} ${path}`);
  const seen = new Set<string>();
  for (let step = 0; step < 2_000; step++) {
    await member.passes(1);
    if (changes.unread('').length > 0) seen.add(codes().join());
  }
  expect([...seen]).toEqual(['path-permission closed']);
  disk.rmdir('closed');
  changes.mark('closed');
  await member.passes(20_000);
  await started;
  expect(codes()).toEqual([]);
});
