import { expect, test } from 'vitest';
import { remoteEntry } from '../../core/entry.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { notHere, unseen, withCurrent } from './current-version.ts';

/** The sentence for `film`, which only other members have, after `change` at the member on demand. */
async function saidOf(change: (member: LoneMember) => void): Promise<string | undefined> {
  const member = new LoneMember(undefined, { onDemand: true });
  const { journal, context } = member;
  const film = member.operation('film', { kind: 'put', text: 'a film' });
  member.received(film);
  journal.disk.record([remoteEntry('film', film)]);
  change(member);
  const asking = withCurrent(context, ['film'], (currentAt) => currentAt('film'));
  await member.passes(1_000);
  const current = await asking;
  return 'problem' in current ? current.problem : undefined;
}

test('[OD7] a file that only other members have is said not to be here', async () => {
  expect(await saidOf(() => undefined)).toBe(notHere('film'));
});

// Of 300 requests that wrote to a file at once, one was told to open it first.
test('[OD7] it is not while a later version is to be applied, or another entry has its name', async () => {
  const later = await saidOf((member) => {
    member.received(
      member.operation('film', { kind: 'put', text: 'another cut' }, { parents: member.journal.heads.at('film') }),
    );
  });
  expect(later).toMatch(/does not show the current version of film yet: try again/);
  expect(await saidOf(({ volume }) => volume.disk.write('film', contentOfText('of a user')))).toBe(unseen('film'));
});
