import {
  type OperationsPage,
  type OperationsQuery,
  operationsPageSchema,
  type ReplayResult,
  replayResultSchema,
  statusSchema,
  type VerifyResult,
  verifyResultSchema,
  type WorkReport,
} from '@lockstep/shared/api';
import { workText } from '@lockstep/shared/present';
import { loadConfig } from '../config/load-config.ts';
import { acquireLock } from '../member-dir/instance-lock.ts';
import { type ApiClient, findApi } from './api-client.ts';
import { memberLog } from './output/member-log.ts';
import type { Terminal } from './output/terminal.ts';
import { watchWork } from './output/watched-work.ts';

/** The longest time for commands that may read or write every byte of the folder. */
const patienceMs = 7 * 86_400_000;

/** Access to a member's journal and folder, through its agent or, if none runs, directly. */
export interface MemberSource {
  operations(query: OperationsQuery): Promise<OperationsPage>;
  /** `repair` needs a running agent. */
  verify(repair: boolean): Promise<VerifyResult>;
  replay(into: string): Promise<ReplayResult>;
  /** The works under way. */
  work(): Promise<readonly WorkReport[]>;
  close(): Promise<void>;
}

/** One page of operations for `query`, from the running agent. */
function askOperations(api: ApiClient, query: OperationsQuery): Promise<OperationsPage> {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return api.get(`/ops?${given}`, operationsPageSchema);
}

function throughAgent(api: ApiClient): MemberSource {
  return {
    operations: (query) => askOperations(api, query),
    verify: (repair) => api.post('/verify', { repair }, verifyResultSchema, patienceMs),
    replay: (into) => api.post('/replay', { into }, replayResultSchema, patienceMs),
    work: async () => (await api.get('/status', statusSchema)).work ?? [],
    close: () => Promise.resolve(),
  };
}

/** Opens the member in `directory`, whether or not its agent runs. */
export async function openMemberSource(terminal: Terminal, directory: string): Promise<MemberSource> {
  const api = await findApi(directory);
  if (api !== undefined) return throughAgent(api);
  const { config } = await loadConfig(directory, { env: terminal.env });
  const lock = await acquireLock(directory, terminal.nowMs());
  try {
    const { openOffline } = await import('../offline/offline-member.ts');
    const member = await openOffline(directory, config, await memberLog(terminal, config));
    terminal.note(`No agent runs on ${directory}: the answer is from its own journal and disk.`);
    return {
      operations: (query) => Promise.resolve(member.operations(query)),
      verify: () => member.verify(),
      replay: (into) => member.replay(into),
      work: () => Promise.resolve(member.work()),
      async close() {
        await member.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Does a work of `source`, and shows on a terminal how far it is. */
export function watchSource<Result>(
  terminal: Terminal,
  source: MemberSource,
  what: WorkReport['what'],
  work: Promise<Result>,
): Promise<Result> {
  return watchWork(terminal, work, async () => {
    const found = (await source.work()).find((each) => each.what === what);
    return found && workText(found);
  });
}
