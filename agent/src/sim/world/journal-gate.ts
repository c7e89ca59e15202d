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

/** What the gate tells of a life's dealings with its journal. */
export interface JournalWitness {
  /** A call that writes, after it succeeded. */
  wrote(call: (typeof writes)[number], args: readonly unknown[]): void;
}

/**
 * The journal as one life of an agent sees it. The journal itself outlives a crash; this gate does not: after the crash every
 * call throws, and a transaction that was under way is rolled back. Each write is an effect that a crash may precede.
 */
export function gateJournal(journal: Journal, life: Life, witness: JournalWitness): Journal {
  const isWrite = (name: string): name is (typeof writes)[number] => (writes as readonly string[]).includes(name);
  const transaction = <T>(body: () => T): T => {
    life.effect();
    return journal.transaction(() => {
      const result = body();
      // Died inside: whatever the body caught, nothing is committed.
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
