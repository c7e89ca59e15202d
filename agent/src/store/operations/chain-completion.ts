import type { Operation, OriginId } from '@lockstep/shared';
import type { JournalDatabase } from '../database.ts';
import type { Verifier } from '../verify.ts';
import { firstLink, markOfLink, nextLink } from './chain.ts';
import type { OperationLog } from './operation-log.ts';

const rowsAtOnce = 1_000;

/**
 * Adds the chain hashes to the operations of a journal of an earlier schema, and the marks to its heads and digest, in one transaction.
 * Does nothing if they are there.
 */
export function completeChains(
  database: JournalDatabase,
  { log, verifier }: { readonly log: OperationLog; readonly verifier: Verifier },
): void {
  const lacking = database.statement<{ row: number }>('SELECT row FROM ops WHERE row = 1 AND chain IS NULL');
  if (lacking.get() === undefined) return;
  const setChain = database.statement(
    'UPDATE ops SET chain = ? WHERE origin = (SELECT id FROM origins WHERE name = ?) AND seq = ?',
  );
  const heads = database.statement<{ op: number; chain: Buffer }>(
    'SELECT heads.op, ops.chain FROM heads JOIN ops ON ops.row = heads.op WHERE heads.op > ? ORDER BY heads.op LIMIT ?',
  );
  const setMark = database.statement('UPDATE heads SET mark = ? WHERE op = ?');
  database.transaction(() => {
    for (const origin of Object.keys(log.known()) as OriginId[]) {
      let link = firstLink(origin);
      for (const operation of operationsOf(log, origin)) {
        link = nextLink(link, operation);
        setChain.run(link, origin, operation.seq);
      }
    }
    let after = 0;
    for (;;) {
      const page = heads.all(after, rowsAtOnce);
      for (const { op, chain } of page) {
        setMark.run(markOfLink(chain), op);
        after = op;
      }
      if (page.length < rowsAtOnce) break;
    }
    verifier.rebuild();
    log.forget();
  });
}

function* operationsOf(log: OperationLog, origin: OriginId): IterableIterator<Operation> {
  let after = 0;
  for (;;) {
    const batch = log.operationsOf(origin, after, rowsAtOnce);
    yield* batch;
    const end = batch.at(-1);
    if (end === undefined) return;
    after = end.seq;
  }
}
