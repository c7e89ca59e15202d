import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { fingerprintOf } from '../../sim/disk/inode.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { Folder } from '../ports/folder.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

const quiet = (): void => undefined;

/** A folder whose hints are held back until `released`. */
function withLateHints(released: Promise<void>): (folder: Folder) => Folder {
  return (folder) =>
    new Proxy(folder, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'watch') {
          return (...[hint]: Parameters<Folder['watch']>) =>
            target.watch((hints) => void released.then(() => hint(hints)));
        }
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}

test('[LC8] a directory that is moved into the folder is scanned, also if its mode is applied before it is observed', async () => {
  let release = quiet;
  const member = new LoneMember(withLateHints(new Promise((resolve) => (release = resolve))));
  const { context, journal, volume } = member;
  const { disk } = volume;
  context.ignored.take('');
  const origin = 'bee' as OriginId;
  const made = member.operation('directory', { kind: 'mkdir' }, { origin });
  member.received(made);
  const fingerprint = fingerprintOf(disk.mkdir('directory'));
  journal.disk.record([{ path: 'directory', entry: { dot: made, fingerprint } }]);
  disk.write('directory/file', contentOfText('written while the agent was down'));
  // Away during the scan at the start: it gets no watch.
  disk.rename('directory', '/elsewhere/directory');
  const changes = new LocalChanges(context, member.operationWriter);
  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  void changes.start();
  await member.passes(10);
  disk.rename('/elsewhere/directory', 'directory');
  const restricted = member.operation('directory', { kind: 'attr' }, { origin, parents: [made] });
  member.received({ ...restricted, mode: 0o700 });
  applyLoop.poke();
  await member.passes(10);
  release();
  await member.passes(60_000);
  expect(disk.at('directory')?.mode).toBe(0o700);
  expect(journal.heads.at('directory/file')).toMatchObject([{ kind: 'put' }]);
  expect(member.errors).toEqual([]);
});
