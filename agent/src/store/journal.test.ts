import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ant, beeMember, openAnt, put, show, temporaryFolder } from './fixtures.contract.ts';
import { journalContract } from './journal.contract.ts';
import { openJournal } from './journal.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

describe('a journal in memory', () => journalContract(() => openAnt(':memory:')));

describe('a journal in a file', () => {
  journalContract(() => openAnt(join(temporaryFolder(), 'journal.db')));
});

test('[JN13] a journal whose directory is moved away, or cannot be reached, is not taken for removed', () => {
  const directory = temporaryFolder();
  const [folder, elsewhere] = [join(directory, 'folder'), join(directory, 'elsewhere')];
  mkdirSync(folder);
  const journal = openAnt(join(folder, 'journal.db'));
  onTestFinished(() => journal.close());
  journal.append([put(ant, 1, 'x')]);
  renameSync(folder, elsewhere);
  journal.endIfRemoved();
  writeFileSync(folder, 'a file at its place');
  journal.endIfRemoved();
  rmSync(folder);
  renameSync(elsewhere, folder);
  chmodSync(folder, 0);
  // Root may enter any directory.
  if (isRoot) process.seteuid?.(nobody);
  try {
    journal.endIfRemoved();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o700);
  }
  rmSync(join(folder, 'journal.db-wal'));
  expect(() => journal.endIfRemoved()).toThrow('journal.db-wal was removed or replaced while the agent ran');
});

describe('a journal that is opened again', () => {
  test('continues under the same origin', () => {
    const path = join(temporaryFolder(), 'journal.db');
    const first = openAnt(path);
    first.append([put(ant, 1, 'x'), put(ant, 2, 'y')]);
    show(first, put(ant, 1, 'x'));
    first.events.add(1, 'joined', { name: 'bee' });
    const before = [
      first.log.known(),
      first.applied(),
      first.totals.counts(),
      first.totals.digest(),
      first.events.lastNumber(),
    ];
    first.close();

    const random = () => {
      throw new Error('The origin is not drawn a second time.');
    };
    const second = openJournal({ path, memberId: 'a'.repeat(52) as typeof beeMember, random, nowMs: Date.now });
    expect(second.origin).toBe(ant);
    const now = [
      second.log.known(),
      second.applied(),
      second.totals.counts(),
      second.totals.digest(),
      second.events.lastNumber(),
    ];
    expect(now).toEqual(before);
    second.append([put(ant, 3, 'z')]);
    expect(second.log.rows({ beforeRow: 99, limit: 1 })[0]?.row).toBe(3);
    second.close();
  });

  test('keeps a new incarnation, and numbers from 1 under it', () => {
    const path = join(temporaryFolder(), 'journal.db');
    openAnt(path).close();
    const memberId = 'a'.repeat(52) as typeof beeMember;
    const first = openJournal({ path, memberId, random: Math.random, nowMs: Date.now });
    first.append([put(ant, 1, 'x')]);
    first.renewOrigin();
    const renewed = first.origin;
    expect(renewed).not.toBe(ant);
    first.append([put(renewed, 1, 'y')]);
    first.close();
    const second = openJournal({ path, memberId, random: Math.random, nowMs: Date.now });
    expect(second.origin).toBe(renewed);
    expect(second.log.known()).toEqual({ [ant]: 1, [renewed]: 1 });
    second.close();
  });

  test('is refused by another member', () => {
    const path = join(temporaryFolder(), 'journal.db');
    openAnt(path).close();
    const open = () => openJournal({ path, memberId: beeMember, random: () => 0, nowMs: Date.now });
    expect(open).toThrow(LockstepError);
    expect(open).toThrow('belongs to the member aaaa');
  });
});
