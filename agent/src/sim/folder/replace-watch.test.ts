import { expect, test } from 'vitest';
import { contentOfText } from '../disk/content.ts';
import { Disk } from '../disk/disk.ts';
import type { Inode } from '../disk/inode.ts';
import { ReplaceWatch } from './replace-watch.ts';

function inode(): Inode {
  const disk = new Disk({ wallMs: () => 0 });
  disk.write('file', contentOfText('text'));
  return disk.inodeAt('file');
}

const [expected, other] = [inode(), inode()];

type Step = (watch: ReplaceWatch) => void;
const check: Step = (watch) => watch.checked('file', expected);
const hold: Step = (watch) => watch.held('file', expected);
const otherCall: Step = () => undefined;

test.each<[what: string, steps: readonly Step[], isExcused: boolean]>([
  ['right after a check', [check], true],
  ['after a hold and a check', [hold, check, otherCall, otherCall, otherCall], true],
  ['right after a hold', [hold], true],
  ['without a check since the hold', [hold, otherCall, otherCall], false],
  ['long after a check without a hold', [check, otherCall, otherCall, otherCall], false],
  ['without any check', [], false],
])('a file that was renamed onto the name is excused: %s', (_, steps, isExcused) => {
  const lost: Inode[] = [];
  const watch = new ReplaceWatch((replaced) => lost.push(replaced));
  watch.begin();
  for (const step of steps) {
    watch.count();
    step(watch);
  }
  watch.count();
  watch.replaces('file', other);
  expect(lost).toEqual(isExcused ? [other] : []);
});
