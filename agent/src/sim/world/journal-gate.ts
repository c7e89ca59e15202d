import type { Journal } from '../../sync/ports/journal.ts';
import { CrashedError, type Life } from '../base/life.ts';

const writes = [
  'append',
  'recordDisk',
  'synced',
  'confirmed',
  'saveAck',
  'addEvent',
  'setSetting',
  'verifyHeads',
  'seal',
  'renewOrigin',
] as const;

/** Receives the calls of one life to its journal. */
export interface JournalWitness {
  /** Called after a write succeeded. */
  wrote(call: (typeof writes)[number], args: readonly unknown[]): void;
}

/**
 * The journal in one life of an agent. The journal itself survives a crash. After a crash every call of the gate throws, and an open
 * transaction is rolled back. Each write is an effect, which a crash may precede.
 */
export function gateJournal(journal: Journal, life: Life, witness: JournalWitness): Journal {
  const isWrite = (name: string): name is (typeof writes)[number] => (writes as readonly string[]).includes(name);
  const transaction = <T>(body: () => T): T => {
    life.effect();
    return journal.transaction(() => {
      const result = body();
      // The agent crashed in the body: nothing is committed, even if the body caught the error.
      life.effect();
      return result;
    });
  };
  const calls = new Map<PropertyKey, unknown>([['transaction', transaction]]);
  const wrap = (name: string, call: (...args: unknown[]) => unknown) => {
    if (isWrite(name)) {
      return (...args: unknown[]) => {
        life.effect();
        const result = call.apply(journal, args);
        witness.wrote(name, args);
        return result;
      };
    }
    return (...args: unknown[]) => {
      if (!life.alive) throw new CrashedError();
      return call.apply(journal, args);
    };
  };
  return new Proxy(journal, {
    get(target, name) {
      const known = calls.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      const wrapped = wrap(name, value as (...args: unknown[]) => unknown);
      calls.set(name, wrapped);
      return wrapped;
    },
  });
}
