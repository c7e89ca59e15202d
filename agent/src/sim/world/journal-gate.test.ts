import type { MemberId, Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openJournal } from '../../store/journal.ts';
import type { Journal } from '../../sync/ports/journal.ts';
import { CrashedError, Life } from '../base/life.ts';
import { gateJournal } from './journal-gate.ts';

function open() {
  const journal = openJournal({
    path: ':memory:',
    memberId: 'a'.repeat(52) as MemberId,
    random: () => 0.5,
    nowMs: () => 0,
  });
  const life = new Life();
  const writes: string[] = [];
  const gate = gateJournal(journal, life, { wrote: (call) => writes.push(call) });
  return { journal, life, writes, gate };
}

const mkdir = ({ origin }: Journal, path: string, seq: number): Operation => {
  return { origin, seq, hlc: seq, kind: 'mkdir', path, mode: 0o755, version: { vector: { [origin]: seq } } };
};

test('passes calls on and reports those that write', () => {
  const { journal, gate, writes } = open();
  gate.append([mkdir(journal, 'a', 1)]);
  expect(gate.log.known()).toEqual(journal.log.known());
  expect(gate.origin).toBe(journal.origin);
  expect(writes).toEqual(['append']);
});

test('a crash inside a transaction rolls it back, even if the body catches the error', () => {
  const { journal, life, gate } = open();
  // The transaction itself and the first write are two effects.
  life.crashAfterEffects(2);
  const body = () => {
    gate.append([mkdir(journal, 'a', 1)]);
    try {
      gate.append([mkdir(journal, 'b', 2)]);
    } catch {
      // This body catches every error.
    }
  };
  expect(() => gate.transaction(body)).toThrow(CrashedError);
  expect(journal.log.known()).toEqual({});
});

test('after a crash every call of the gate throws, and the journal stays usable', () => {
  const { journal, life, gate } = open();
  gate.append([mkdir(journal, 'a', 1)]);
  life.end();
  expect(() => gate.log.known()).toThrow(CrashedError);
  expect(() => gate.settings.set('a', 'b')).toThrow(CrashedError);
  expect(journal.log.known()).toEqual({ [journal.origin]: 1 });
});
