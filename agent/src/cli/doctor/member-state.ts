import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { statusSchema } from '@lockstep/shared/api';
import { formatElapsed, formatItems } from '@lockstep/shared/present';
import { loadConfig } from '../../config/load-config.ts';
import { readAccepted } from '../../fs/mounts/mount-file.ts';
import { nodeSystemCalls } from '../../fs/node-system-calls.ts';
import { loadIdentity } from '../../member-dir/identity-files.ts';
import { inspectInstance } from '../../member-dir/instance-file.ts';
import { findRunning } from '../../member-dir/instance-lock.ts';
import { clusterKeyPath, statePath } from '../../member-dir/state-directory.ts';
import { loadClusterKey } from '../../net/keys/cluster-key.ts';
import { shellWord } from '../../os/shell-word.ts';
import { checkJournal, hasLeft } from '../../store/check-journal.ts';
import { JournalDamagedError } from '../../store/journal-error.ts';
import { findApi } from '../api-client.ts';
import type { Terminal } from '../output/terminal.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import type { RunningMember, Subject } from './subject.ts';

const member = resultsOf('member');
const journal = resultsOf('journal');

/** The longest time for the agent's status; a slower agent has a problem. */
const answerTimeoutMs = 10_000;

/** The remedy for a LockstepError: its message ends with what to do. */
const asItSays = 'Follow the advice in this message.';

/** Reads a part of the state; an error in it becomes a result. */
async function attempt<T>(read: () => Promise<T>, found: CheckResult[]): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    found.push(member.fail(error.message, asItSays));
    return undefined;
  }
}

async function findAgent(directory: string, found: CheckResult[]): Promise<RunningMember | undefined> {
  const before = found.length;
  const agent = await attempt(() => findRunning(directory), found);
  if (agent === undefined) return found.length > before ? { pid: undefined, status: undefined } : undefined;
  const status = await attempt(
    async () => (await findApi(directory))?.get('/status', statusSchema, answerTimeoutMs),
    found,
  );
  return { pid: agent.pid, status };
}

/** Reads the data that the checks need, and returns results for the parts that cannot be read. */
export async function readSubject(
  terminal: Terminal,
  directory: string,
): Promise<{ readonly subject: Subject; readonly results: readonly CheckResult[] }> {
  const results: CheckResult[] = [];
  const state = statePath(directory);
  const loaded = await attempt(() => loadConfig(directory, { env: terminal.env }), results);
  const identity = await attempt(() => loadIdentity(state), results);
  const clusterKey = await attempt(() => loadClusterKey(clusterKeyPath(directory)), results);
  const running = await findAgent(directory, results);
  // A running agent was started with --adopt, or is the original.
  const instance = running === undefined ? await attempt(() => inspectInstance(directory), results) : undefined;
  if (instance === 'damaged') {
    const damage = `${join(state, 'instance.json')} is damaged. It says where this state directory was made.`;
    results.push(member.warn(damage, `The next start writes it again: lockstep up ${shellWord(directory)}`));
  }
  await attempt(async () => readAccepted(nodeSystemCalls(), state), results);
  const subject = { directory, state, config: loaded?.config, identity, clusterKey, running, nowMs: terminal.nowMs };
  return { subject, results };
}

/** Reports the state of the agent, from its own status. */
export function checkAgent({ directory, state, identity, running }: Subject): Promise<readonly CheckResult[]> {
  if (running === undefined) {
    if (identity !== undefined && hasLeft(join(state, 'journal.db'), identity.memberId)) {
      const rejoin = `To join again with what is in the folder now: lockstep up --rejoin ${shellWord(directory)}`;
      return Promise.resolve([
        member.warn('This member has left the cluster, and its files are not replicated.', rejoin),
      ]);
    }
    const remedy = `Start it: lockstep up ${shellWord(directory)}`;
    return Promise.resolve([member.warn('No agent runs here: the folder is not replicated now.', remedy)]);
  }
  const { pid, status } = running;
  // It does not answer, which is already a result.
  if (status === undefined) return Promise.resolve([]);
  const paused = status.paused
    ? [
        member.warn(
          'This member is paused: it takes nothing from the others and gives them nothing.',
          `To end it: lockstep resume ${shellWord(directory)}`,
        ),
      ]
    : [];
  const said = `The agent (process ${pid}) has been up for ${formatElapsed(status.now - status.member.startedAt)}`;
  if (status.problemCount === 0) return Promise.resolve([member.ok(`${said} and reports no problem.`), ...paused]);
  const detail = `${said} and reports ${formatItems(status.problemCount, 'problem')}.`;
  return Promise.resolve([
    ...paused,
    member.warn(detail, 'lockstep status lists them; docs/OPERATIONS.md says what to do about each.'),
  ]);
}

/** Checks that the journal is whole, and of a version that this software reads. Reads all of it. */
export function checkTheJournal({ directory, state, running }: Subject): Promise<readonly CheckResult[]> {
  // A running agent has read it at its start, and reports damage itself.
  if (running !== undefined) return Promise.resolve([]);
  const check = checkJournal(join(state, 'journal.db'));
  if (check.state === 'absent') return Promise.resolve([]);
  if (check.state === 'sound') return Promise.resolve([journal.ok('The journal is whole.')]);
  const { error } = check;
  if (!(error instanceof JournalDamagedError)) return Promise.resolve([journal.fail(error.message, asItSays)]);
  const remedy =
    'Check the disk (dmesg, smartctl -a). The next start puts the journal aside, and builds a new one from the folder and the other ' +
    `members: lockstep up ${shellWord(directory)}`;
  return Promise.resolve([journal.fail(`The journal is damaged: ${error.reason}.`, remedy)]);
}
