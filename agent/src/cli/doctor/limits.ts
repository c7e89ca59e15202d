import { formatCount } from '@lockstep/shared/present';
import { type CheckResult, resultsOf } from './check-result.ts';
import { readProc } from './proc.ts';
import type { Subject } from './subject.ts';

const { ok, warn, fail } = resultsOf('open files');

/** The files that an idle agent has open: its journal, sockets, worker threads. */
const filesMin = 128;
/** Enough files for sessions with all members and all reads and writes at once. */
const filesComfortable = 1_024;

const remedy =
  'Raise it: ulimit -n 65536 in the shell that starts the agent, LimitNOFILE=65536 in its service, or a line for its user in ' +
  '/etc/security/limits.d/.';

/**
 * Checks the number of files that the agent may have open: the agent's own limit if it runs, else that of this process. Node has raised
 * that as far as it may, as it will for an agent that is started from here.
 */
export async function checkOpenFiles({ running }: Subject): Promise<readonly CheckResult[]> {
  const limits = await readProc(`/proc/${running?.pid ?? 'self'}/limits`);
  const text = /^Max open files\s+(\S+)/m.exec(limits ?? '')?.[1];
  if (text === undefined) return [];
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  const who = running?.pid === undefined ? 'A process of this user' : 'The agent';
  const detail = `${who} may have ${text === 'unlimited' ? 'any number of' : formatCount(limit)} files open`;
  if (limit < filesMin) return [fail(`${detail}, and needs ${filesMin} to run.`, remedy)];
  if (limit < filesComfortable) return [warn(`${detail}: under load that is too few.`, remedy)];
  return [ok(`${detail}.`)];
}
