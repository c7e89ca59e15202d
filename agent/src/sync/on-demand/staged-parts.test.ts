import type { Operation, WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, rotten, virtualContent } from '../../sim/disk/content.ts';

const mebibyte = 1_048_576;
const film = virtualContent('film', 20 * mebibyte);

/** A member on demand, and another one whose files at `paths` have the film, and which sends a block of it each half second. */
function openMember(paths: readonly string[]) {
  const bee = new ScriptedPeer('b');
  const wants: WantMessage[] = [];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    if (message.probe) bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
    else {
      wants.push(message);
      send(message);
    }
  };
  const member = openTestMember([bee], { onDemand: true });
  const { origin } = bee;
  const { id: content, size, blocks } = film;
  const operations = paths.map((path, index): Operation => {
    const seq = index + 1;
    const file = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(blocks && { blocks }) } as const;
    return { origin, seq, hlc: seq, path, version: { vector: { [origin]: seq } }, ...file };
  });
  const { scheduler, until } = member;
  let freeMs = 0;
  const send = ({ id, index }: WantMessage): void => {
    freeMs = Math.max(freeMs, scheduler.nowMs) + 500;
    scheduler.after(freeMs - scheduler.nowMs, () => bee.say({ type: 'block', id, bytes: blockOf(film, index) }));
  };
  const start = async (): Promise<void> => {
    void member.engine.start();
    expect(await until(() => member.engine.lifecycle.state === 'active', 10_000)).toBe(true);
    bee.known = { [origin]: operations.length };
    bee.sayOperations(operations);
    expect(await until(() => paths.every((path) => member.journal.disk.at(path)?.remote === true), 10_000)).toBe(true);
  };
  const shows = (path: string): boolean => member.volume.disk.at(path)?.content?.id === film.id;
  return { ...member, wants, start, shows };
}

// Simulator, seed 118065: what was fetched was dropped each second.
test('[MT20] the content of a damaged file that no reader wants is fetched once', async () => {
  const { engine, journal, volume, wants, start, until, shows } = openMember(['film']);
  await start();
  void engine.onDemand.fetch('film');
  expect(await until(() => shows('film'), 60_000)).toBe(true);
  const isCertain = (): boolean => {
    const row = journal.disk.at('film');
    return row?.content === film.id && !row.racy && row.unconfirmed === undefined;
  };
  expect(await until(isCertain, 60_000)).toBe(true);
  wants.splice(0);
  Object.assign(volume.disk.at('film') ?? {}, { content: rotten(film) });
  void engine.damage.check('film');
  expect(await until(() => journal.disk.at('film')?.damaged === true, 60_000)).toBe(true);
  expect(await until(() => shows('film'), 60_000)).toBe(true);
  expect(wants.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test.each(['film', 'same'])('[OD2] a content that two files have is fetched once for a reader of %s', async (path) => {
  const { engine, wants, start, until, shows } = openMember(['film', 'same']);
  await start();
  void engine.onDemand.fetch(path);
  expect(await until(() => shows(path), 60_000)).toBe(true);
  expect(wants).toHaveLength(20);
});
