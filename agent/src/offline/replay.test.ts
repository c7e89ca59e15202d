import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Operation, OriginId } from '@lockstep/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LoneMember } from '../sim/lone-member.ts';
import { Work } from '../sync/durability/work.ts';
import { OldVersions } from '../sync/versions/old-versions.ts';
import { replayInto } from './replay.ts';

const bee = 'bee' as OriginId;

let place = '';
let member: LoneMember;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'lockstep-replay-test-'));
  member = new LoneMember();
  member.keeps('text');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** An operation of bee, as a peer may make it. */
function fromBee(path: string, kind: Operation['kind'], more: Partial<Operation> = {}): void {
  const text = kind === 'put' ? { text: 'text' } : {};
  member.received({ ...member.operation(path, { kind, ...text }, { origin: bee }), ...more });
}

async function replayed(): Promise<Awaited<ReturnType<typeof replayInto>>> {
  const { context, transfers } = member;
  const engine = { context, oldVersions: new OldVersions(context, transfers), work: new Work() };
  let isDone = false;
  const result = replayInto(engine, join(place, 'into'), new AbortController().signal).finally(() => {
    isDone = true;
  });
  // The directory is real and the member's disk is simulated: simulated time must pass while the real one works.
  while (!isDone) {
    await member.passes(100);
    await setImmediate();
  }
  return result;
}

test('[RP3] a replay takes no step through a link that came from a peer', async () => {
  mkdirSync(join(place, 'outside'));
  fromBee('d', 'symlink', { target: join(place, 'outside') });
  fromBee('d/file', 'put');
  fromBee('d/sub', 'mkdir');
  fromBee('d/link', 'symlink', { target: 'x' });
  fromBee('e', 'put');
  const { missing, files, symlinks } = await replayed();
  expect(readdirSync(join(place, 'outside'))).toEqual([]);
  expect(readlinkSync(join(place, 'into/d'))).toBe(join(place, 'outside'));
  expect(missing.map(({ path }) => path).sort()).toEqual(['d/file', 'd/link', 'd/sub']);
  expect({ files, symlinks }).toEqual({ files: 1, symlinks: 1 });
  expect(readFileSync(join(place, 'into/e'), 'utf8')).toBe('text');
});

test('[RP3] a replay sets no setuid, setgid or sticky bit', async () => {
  fromBee('file', 'put', { mode: 0o6755 });
  fromBee('directory', 'mkdir', { mode: 0o3777 });
  expect((await replayed()).missing).toEqual([]);
  expect(statSync(join(place, 'into/file')).mode & 0o7777).toBe(0o755);
  expect(statSync(join(place, 'into/directory')).mode & 0o7777).toBe(0o777);
});

test('[RP3] a replay writes no spelling of .lockstep', async () => {
  for (const name of ['.LOCKSTEP', '.lockstep.', 'a']) fromBee(name, 'mkdir');
  for (const path of ['.LOCKSTEP/identity.key', '.lockstep./config.toml', 'LOCKST~1', 'a/.lock\u200cstep'])
    fromBee(path, 'put');
  expect((await replayed()).missing).toEqual([]);
  expect(readdirSync(join(place, 'into'))).toEqual(['a']);
  expect(readdirSync(join(place, 'into/a'))).toEqual([]);
});

test('[RP1] a replay makes an empty file although no member has one', async () => {
  member.received(member.operation('empty', { kind: 'put', text: '' }, { origin: bee }));
  const { missing, files } = await replayed();
  expect({ missing, files }).toEqual({ missing: [], files: 1 });
  expect(statSync(join(place, 'into/empty')).size).toBe(0);
});
