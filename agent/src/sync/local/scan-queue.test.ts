import { problemsMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ScanQueue } from './scan-queue.ts';

const depth = 40;
const levels = Array.from({ length: depth }, (_, index) => 'd/'.repeat(index + 1).slice(0, -1));

/** A member with a chain of directories, and its queue of scans. */
function openChain() {
  const member = new LoneMember();
  const { context, volume } = member;
  for (const path of levels) volume.disk.mkdir(path);
  const listed: string[] = [];
  const marked: string[] = [];
  const whenListed = new Map<string, () => void>();
  const scan = context.folder.scan.bind(context.folder);
  context.folder.scan = async function* (directory, options) {
    for await (const chunk of scan(directory, options)) {
      for (const { path } of chunk) {
        listed.push(path);
        whenListed.get(path)?.();
      }
      yield chunk;
    }
  };
  const scans = new ScanQueue(context, {
    mark: (path) => void marked.push(path),
    scanned: () => undefined,
    lostSight: () => undefined,
    room: () => Promise.resolve(),
  });
  return { member, volume, listed, whenListed, marked, scans };
}

// 300 levels that one member renamed while another one removed them: scans took three minutes.
test.each([
  ['the highest first', levels],
  ['the deepest first', levels.toReversed()],
])(
  '[LC47] directories of a chain that are all to be scanned with what is below them are listed once: %s',
  async (_, requests) => {
    const { member, listed, scans } = openChain();
    const done = Promise.all(requests.map((path) => scans.request(path, true)));
    await member.passes(10_000);
    await done;
    // The first one may have begun before the others were requested.
    expect(listed.length).toBeLessThanOrEqual(2 * depth);
    expect(new Set(listed)).toEqual(new Set(levels));
  },
);

test('[LC47] a directory that is to be scanned once more while a scan from above covers it is scanned once more', async () => {
  const { member, volume, whenListed, marked, scans } = openChain();
  const last = levels.at(-1) ?? '';
  let later: Promise<void> | undefined;
  whenListed.set(last, () => {
    whenListed.delete(last);
    // The listing lacks it.
    volume.disk.write(`${last}/new`, contentOfText('new'));
    later = scans.request(last, false);
  });
  const done = scans.request('d', true);
  await member.passes(10_000);
  await Promise.all([done, later]);
  expect(marked).toContain(`${last}/new`);
});

test('[MT16] a scan withdraws problems that are only counted, once their entries are gone', async () => {
  const { member, scans } = openChain();
  const { problems } = member.context;
  problems.set('path-special', { path: 'elsewhere/one' }, 'It is left alone.');
  // More than are kept: the events for their removal may be lost.
  for (let number = 0; number < problemsMax + 5; number++) {
    problems.set('path-special', { path: `d/${number}` }, 'It is left alone.');
  }
  const done = scans.request('d', false);
  await member.passes(10_000);
  await done;
  expect(problems.list().map(({ path }) => path)).toEqual(['elsewhere/one']);
  expect(problems.count).toBe(1);
});
