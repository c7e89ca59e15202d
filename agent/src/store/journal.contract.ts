import type { Journal } from '../sync/ports/journal.ts';
import { besideContract } from './beside.contract.ts';
import { diskContract } from './disk.contract.ts';
import { headsContract } from './heads.contract.ts';
import { logContract } from './log.contract.ts';
import { pendingContract } from './pending.contract.ts';
import { treeContract } from './tree.contract.ts';

/** The behaviour of every journal, wherever it keeps its data. `open` opens an empty one whose origin is `ant`. */
export function journalContract(open: () => Journal): void {
  logContract(open);
  headsContract(open);
  pendingContract(open);
  diskContract(open);
  besideContract(open);
  treeContract(open);
}
