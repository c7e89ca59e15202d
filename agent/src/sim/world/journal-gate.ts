import type { Journal } from '../../sync/ports/journal.ts';
import type { Life } from '../base/life.ts';

const writes = [
  'append',
  'seal',
  'renewOrigin',
  'verifyHeads',
  'disk.record',
  'disk.synced',
  'disk.confirmed',
  'acks.save',
  'events.add',
  'settings.set',
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
  const gated = (name: string, call: (...args: unknown[]) => unknown) => {
    if (isWrite(name)) {
      return (...args: unknown[]) => {
        life.effect();
        const result = call(...args);
        witness.wrote(name, args);
        return result;
      };
    }
    return (...args: unknown[]) => {
      life.check();
      return call(...args);
    };
  };
  /** A table of the journal, or the journal itself, whose calls have this prefix. */
  const gate = <T extends object>(table: T, prefix: string, known: Map<PropertyKey, unknown>): T =>
    new Proxy(table, {
      get(target, name) {
        if (known.has(name)) return known.get(name);
        const value: unknown = Reflect.get(target, name, target);
        const call = `${prefix}${String(name)}`;
        // The origin changes, and is no call.
        if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return value;
        const wrapped =
          typeof value === 'function' ? gated(call, value.bind(target)) : gate(value, `${call}.`, new Map());
        known.set(name, wrapped);
        return wrapped;
      },
    });
  return gate(journal, '', new Map([['transaction', transaction]]));
}
