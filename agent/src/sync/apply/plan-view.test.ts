import { batchPathsMax, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { fingerprintOf } from '../../sim/disk/inode.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { JournalPlanView } from './plan-view.ts';

const origin = 'bee' as OriginId;

test('[MT46] the entries of a renamed directory are read by range as they are one by one', async () => {
  const member = new LoneMember();
  const { context, journal, volume } = member;
  const fingerprint = fingerprintOf(volume.disk.write('any', contentOfText('any')));
  // Names whose order in UTF-8 is another one than in UTF-16, and more entries than a page has.
  const names = Array.from(
    { length: 2 * batchPathsMax },
    (_, index) => `${index % 3 === 0 ? '\u{1f600}' : '\uff5e'}${index}`,
  );
  for (const [index, name] of names.entries()) {
    const made = member.operation(`old/${name}`, { kind: 'put', text: name }, { origin });
    const { seq } = made;
    // Some have no row, some no new name, and some are still live.
    if (index % 7 !== 0) journal.disk.record([{ path: made.path, entry: { dot: { origin, seq }, fingerprint } }]);
    member.received(made);
    if (index % 11 !== 0) member.received(member.operation(`new/${name}`, { kind: 'put', text: name }, { origin }));
    if (index % 13 !== 0) member.received(member.operation(made.path, { kind: 'delete' }, { origin, parents: [made] }));
  }
  const inTheWay = `new/${names[1]}`;
  journal.disk.record([{ path: inTheWay, entry: { dot: { origin, seq: 1 }, fingerprint } }]);
  const view = await JournalPlanView.open(context, [], { isStaged: () => false, movesWhole: () => true });
  const rows = journal.disk.below('old', undefined, 9_999);
  expect(rows.length).toBeGreaterThan(batchPathsMax);
  const one = (path: string) => journal.heads.at(path)[0];
  expect(view.moved('old', 'new')).toEqual(
    rows.map((row) => {
      const target = row.path.replace('old', 'new');
      return { row, before: one(row.path), after: one(target), isInTheWay: target === inTheWay };
    }),
  );
});
