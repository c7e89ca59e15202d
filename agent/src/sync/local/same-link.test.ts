import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from './local-changes.ts';

// Simulator: a link that was removed and made again within one step of the file system's clock got the inode number of the former one.
test.each(['an event', 'a scan'])(
  '[LC42] a link that was made again with another target is found by %s',
  async (by) => {
    const member = new LoneMember(undefined, { keepsBirths: false });
    const { context, operationWriter, volume } = member;
    const { disk } = volume;
    const changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 600_000 });
    disk.symlink('link', 'to-1');
    const started = changes.start();
    await member.passes(2_000);
    await started;
    const target = (): string | undefined => context.journal.heads.at('link')[0]?.target;
    expect(target()).toBe('to-1');

    const { number, mtimeMs, ctimeMs } = disk.inodeAt('link');
    if (by === 'a scan') changes.stop();
    disk.unlink('link');
    Object.assign(disk.symlink('link', 'to-2'), { number, mtimeMs, ctimeMs });
    if (by === 'a scan') void new LocalChanges(context, operationWriter, { rescanIntervalMs: 600_000 }).start();
    await member.passes(2_000);
    expect(target()).toBe('to-2');
  },
);
