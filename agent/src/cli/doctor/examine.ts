import type { Terminal } from '../output/terminal.ts';
import type { CheckResult } from './check-result.ts';
import { checkDisk } from './disk.ts';
import { checkFileSystem } from './file-system.ts';
import { checkInotify } from './inotify.ts';
import { checkOpenFiles } from './limits.ts';
import { checkAgent, checkTheJournal, readSubject } from './member-state.ts';
import { checkPeers } from './peers.ts';
import { checkPermissions } from './permissions.ts';
import { checkExposure, checkPorts } from './ports.ts';
import type { Subject } from './subject.ts';

const checks: readonly ((subject: Subject) => Promise<readonly CheckResult[]>)[] = [
  checkAgent,
  checkPermissions,
  checkTheJournal,
  checkDisk,
  checkFileSystem,
  checkInotify,
  checkOpenFiles,
  checkPorts,
  checkExposure,
  checkPeers,
];

/** Checks everything that the member in `directory` needs, without changing any of it. */
export async function examine(terminal: Terminal, directory: string): Promise<readonly CheckResult[]> {
  const { subject, results } = await readSubject(terminal, directory);
  const found = [...results];
  for (const check of checks) found.push(...(await check(subject)));
  return found;
}
