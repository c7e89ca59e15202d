import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { LocalChanges } from './local-changes.ts';

const bee = 'bee' as OriginId;

/** A member that received operations in another member's state directory, as older software may send. */
function memberThatHears(): LoneMember {
  const member = new LoneMember();
  member.keeps('secret');
  member.received(
    member.operation('a', { kind: 'mkdir' }, { origin: bee }),
    member.operation('a/.lockstep', { kind: 'mkdir' }, { origin: bee }),
    member.operation('a/.lockstep/identity.key', { kind: 'put', text: 'secret' }, { origin: bee }),
  );
  return member;
}

function applyLoopOf({ context, transfers }: LoneMember): ApplyLoop {
  const gate = new RenameGate(context.journal, context.clock, () => []);
  return new ApplyLoop(context, transfers, gate);
}

test("[WT7] operations in another member's state directory are not applied, and count as applied", async () => {
  const member = memberThatHears();
  const { journal, volume } = member;
  applyLoopOf(member).poke();
  await member.passes(1_000);
  expect(volume.disk.at('a')).toBeDefined();
  expect(volume.disk.at('a/.lockstep')).toBeUndefined();
  expect(journal.totals.counts().pending).toBe(0);
  expect(journal.applied().vector[bee]).toBe(3);
});

test("[WT7] another member's state directory at a journaled path is left alone and not journaled", async () => {
  const member = memberThatHears();
  const { journal, volume, context, operationWriter } = member;
  volume.disk.mkdir('a');
  volume.disk.mkdir('a/.lockstep');
  volume.disk.write('a/.lockstep/identity.key', contentOfText('another secret'));
  applyLoopOf(member).poke();
  const changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 1_000 });
  await Promise.all([changes.start(), member.passes(5_000)]);
  expect(journal.log.length()).toBe(3);
  expect(volume.disk.at('a/.lockstep/identity.key')).toBeDefined();
  expect(context.problems.list().map(({ code, path }) => `${code} ${path}`)).toEqual(['path-reserved a/.lockstep']);
  volume.disk.unlink('a/.lockstep/identity.key');
  volume.disk.rmdir('a/.lockstep');
  await member.passes(5_000);
  expect(journal.log.length()).toBe(3);
  expect(context.problems.list()).toEqual([]);
  changes.stop();
});

test.each(['.LOCKSTEP', '.lock\u017ftep', '.lockstep.', 'LOCKST~1'])(
  '[WT8] %s at the top: journaled operations are not applied, an existing entry is left alone and reported',
  async (name) => {
    const member = new LoneMember();
    const { journal, volume, context, operationWriter } = member;
    member.keeps('secret');
    member.received(
      member.operation(name, { kind: 'mkdir' }, { origin: bee }),
      member.operation(`${name}/identity.key`, { kind: 'put', text: 'secret' }, { origin: bee }),
    );
    applyLoopOf(member).poke();
    await member.passes(1_000);
    expect(volume.disk.at(name)).toBeUndefined();
    expect(journal.applied().vector[bee]).toBe(2);
    volume.disk.mkdir(name);
    volume.disk.write(`${name}/mine`, contentOfText('mine'));
    const changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 1_000 });
    await Promise.all([changes.start(), member.passes(5_000)]);
    expect(journal.log.length()).toBe(2);
    expect(context.problems.list()).toMatchObject([{ code: 'path-reserved', path: name }]);
    expect(context.problems.list()[0]?.detail).toContain('is reserved: some file systems take it for .lockstep');
    changes.stop();
  },
);
