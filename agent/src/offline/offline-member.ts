import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type { OperationsPage, OperationsQuery, ReplayResult, VerifyResult, WorkReport } from '@lockstep/shared/api';
import type { Config } from '../config/schema.ts';
import { openFolder } from '../fs/open-folder.ts';
import { readOperations } from '../http/queries/operations.ts';
import { loadIdentity } from '../member-dir/identity-files.ts';
import { statePath } from '../member-dir/state-directory.ts';
import { nodeClock } from '../os/node-clock.ts';
import { openJournal } from '../store/journal.ts';
import { verifyMember } from '../sync/durability/verify.ts';
import { createEngine } from '../sync/engine.ts';
import type { Log } from '../sync/ports/log.ts';
import type { Network } from '../sync/ports/network.ts';
import { replayInto } from './replay.ts';

/** The functions of a member whose agent does not run: those that need only its journal and its folder. */
export interface OfflineMember {
  operations(query: OperationsQuery): OperationsPage;
  /** Repairs nothing, because there is no member to fetch from. */
  verify(): Promise<VerifyResult>;
  replay(into: string): Promise<ReplayResult>;
  /** The works under way. */
  work(): readonly WorkReport[];
  close(): Promise<void>;
}

/** A network without any members. */
const noNetwork: Network = {
  dial: (address) => Promise.reject(new LockstepError('not-running', `${address} is not dialled: no agent runs here.`)),
  onLink: () => undefined,
  onRefused: () => undefined,
};

/** Opens the member whose folder is `directory` without starting it; the caller holds the folder's lock. */
export async function openOffline(directory: string, config: Config, log: Log): Promise<OfflineMember> {
  const state = statePath(directory);
  const { memberId } = await loadIdentity(state);
  const { random, wallMs } = nodeClock;
  const journal = openJournal({ path: join(state, 'journal.db'), memberId, random, nowMs: wallMs });
  try {
    const folder = await openFolder({
      root: directory,
      stateDirectory: state,
      memberName: config.name,
      log,
      shown: journal.disk,
    });
    const engine = createEngine({
      identity: { id: memberId, name: config.name, addresses: [] },
      peers: [],
      journal,
      folder,
      network: noNetwork,
      clock: nodeClock,
      log,
    });
    return {
      operations: (query) => readOperations(engine, query),
      verify: () => verifyMember(engine, { repair: false, aborted: () => false }),
      replay: (into) => replayInto(engine, into, new AbortController().signal),
      work: () => engine.work.list(),
      async close() {
        await folder.close();
        journal.close();
      },
    };
  } catch (error) {
    journal.close();
    throw error;
  }
}
