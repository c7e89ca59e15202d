import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { keepDoubtful } from './doubtful-content.ts';

// The simulator's seed 2438: the machine was set back, and got the copy that it had made before, as another member had changed it since.
test('[LC17] the bytes of a doubtful file get another name if their copy was made before and has changed since', async () => {
  const member = new LoneMember();
  const { context, volume } = member;
  volume.disk.write('file', contentOfText('doubtful'));
  const kept = async (): Promise<unknown> => {
    const pending = (async () => {
      const [seen] = await context.folder.observe([{ path: 'file', hashLarge: true }]);
      if (seen?.state !== 'file') throw new Error('the file was not read');
      const { fingerprint } = seen;
      return keepDoubtful(context, { path: 'file', dot: { origin: member.journal.origin, seq: 1 }, fingerprint }, seen);
    })();
    await member.passes(1_000);
    return pending;
  };
  const first = (await kept()) as { readonly copy: string };
  expect(volume.disk.at(first.copy)?.content?.id).toBe(contentOfText('doubtful').id);
  // The same attempt, after a kill.
  expect(await kept()).toEqual(first);
  volume.disk.write(first.copy, contentOfText('changed'));
  const second = (await kept()) as { readonly copy: string };
  expect(second.copy).not.toBe(first.copy);
  expect(volume.disk.at(second.copy)?.content?.id).toBe(contentOfText('doubtful').id);
  expect(volume.disk.at(first.copy)?.content?.id).toBe(contentOfText('changed').id);
});
