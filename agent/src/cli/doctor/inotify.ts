import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stateDirectoryName } from '@lockstep/shared';
import { formatCount, formatItems } from '@lockstep/shared/present';
import { type CheckResult, resultsOf } from './check-result.ts';
import { readProc, smallestLimit } from './proc.ts';
import type { Subject } from './subject.ts';

const { ok, warn, fail } = resultsOf('inotify');

/** The share of this user's watches above which the folder has little room to grow. */
const comfortable = 0.8;

async function countDirectories(root: string): Promise<number> {
  let count = 0;
  const todo = [root];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    count += 1;
    // A directory that cannot be read cannot be watched either.
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && entry.name !== stateDirectoryName) todo.push(join(next, entry.name));
    }
  }
  return count;
}

interface Use {
  readonly watches: number;
  readonly instances: number;
}

async function useOf(process: string): Promise<Use> {
  let watches = 0;
  let instances = 0;
  for (const fd of await readdir(`/proc/${process}/fd`).catch(() => [])) {
    if ((await readlink(`/proc/${process}/fd/${fd}`).catch(() => '')) !== 'anon_inode:inotify') continue;
    instances += 1;
    watches += (await readProc(`/proc/${process}/fdinfo/${fd}`))?.match(/^inotify /gm)?.length ?? 0;
  }
  return { watches, instances };
}

/** The use by the processes of the user `uid`, without the agent of this folder; other users' processes do not count towards the limits. */
async function useOfOthers(uid: number, agent: number | undefined): Promise<Use> {
  let [watches, instances] = [0, 0];
  for (const process of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(process) || Number(process) === agent) continue;
    if (/^Uid:\t(\d+)/m.exec((await readProc(`/proc/${process}/status`)) ?? '')?.[1] !== String(uid)) continue;
    const use = await useOf(process);
    watches += use.watches;
    instances += use.instances;
  }
  return { watches, instances };
}

/** The next power of two that leaves half of it free. */
function roomFor(watches: number): number {
  return 2 ** Math.ceil(Math.log2(2 * watches));
}

function raise(setting: string, value: number): string {
  return `As root: sysctl -w ${setting}=${value}, and write ${setting}=${value} into /etc/sysctl.d/60-lockstep.conf for the next start.`;
}

/** Checks the inotify limits: every directory needs a watch, and the kernel limits their number for each user. */
export async function checkInotify({ directory, state, running }: Subject): Promise<readonly CheckResult[]> {
  const [watchesMax, instancesMax] = await Promise.all([
    smallestLimit(['/proc/sys/fs/inotify/max_user_watches', '/proc/sys/user/max_inotify_watches']),
    smallestLimit(['/proc/sys/fs/inotify/max_user_instances', '/proc/sys/user/max_inotify_instances']),
  ]);
  if (watchesMax === undefined || instancesMax === undefined) return [];
  const needed = await countDirectories(directory);
  // The agent runs as the owner of its state; this command may run as root.
  const { uid } = await stat(state);
  const others = await useOfOthers(uid, running?.pid);
  const found: CheckResult[] = [];
  if (others.instances >= instancesMax) {
    const detail = `All ${formatCount(instancesMax)} inotify instances of this user are taken by other programs: nothing can be watched.`;
    found.push(fail(detail, raise('fs.inotify.max_user_instances', Math.max(128, 2 * instancesMax))));
  }
  const free = Math.max(0, watchesMax - others.watches);
  const said = `${formatItems(needed, 'directory', 'directories')} to watch, and ${formatCount(free)} of ${formatCount(watchesMax)} watches left by other programs`;
  const remedy = raise('fs.inotify.max_user_watches', roomFor(needed + others.watches));
  if (needed > free) {
    found.push(
      fail(`${said}: changes in the other directories are found only by the scan of the whole folder.`, remedy),
    );
  } else if (needed > comfortable * free) found.push(warn(`${said}: there is little room for more.`, remedy));
  return found.length > 0 ? found : [ok(`${said}.`)];
}
