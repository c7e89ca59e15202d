import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LockstepError } from '@lockstep/shared';
import { LateRemoval } from './files/late-removal.ts';
import { OpenFiles } from './files/open-files.ts';
import { FolderAccess } from './folder/folder-access.ts';
import { loadFuse, mountFuse, unmount } from './fuse/fuse-mount.ts';
import { Handlers } from './fuse/handlers.ts';
import { draftDirectory, isMounted, remakeDrafts } from './mount-point.ts';
import { RemoteAccess } from './remote/remote-access.ts';
import type { RemoteFiles } from './remote/remote-files.ts';
import { RoomReserver } from './remote/room-reserver.ts';

/** The interval at which the kernel's list is read: the mount may be removed by a person. */
const mountCheckMs = 1_000;

export interface MountRequest {
  /** The member's folder. */
  readonly directory: string;
  readonly mountPoint: string;
  /** The member's name. */
  readonly member: string;
  /** The files that are not on the member's disk, if it fetches contents on demand. */
  readonly remote?: RemoteFiles | undefined;
  readonly isUp: () => boolean;
  /** Says a sentence to the person who mounted it. */
  readonly say: (sentence: string) => void;
}

/** A folder that is mounted. */
export interface Mounted {
  /** Resolves when a person has removed the mount. */
  readonly removed: Promise<void>;
  /** Publishes what is open, and removes the mount. */
  end(): Promise<void>;
}

/** Mounts a member's folder. */
export async function mountFolder({
  directory,
  mountPoint,
  member,
  remote,
  isUp,
  say,
}: MountRequest): Promise<Mounted> {
  const Fuse = loadFuse();
  const drafts = await draftDirectory(directory);
  let lastDraft = 0;
  const staging = {
    folder: directory,
    member,
    newPath() {
      remakeDrafts(drafts);
      return join(drafts, String(++lastDraft));
    },
    nowMs: () => Date.now(),
  };
  const local = new FolderAccess(directory, staging);
  const reserver = remote && new RoomReserver(remote);
  const access = new LateRemoval(remote && reserver ? new RemoteAccess(local, remote, reserver) : local);
  const onConflict = (path: string, copy: string): void =>
    say(`${path} has another version by now, which stays there. What was written through the mount is ${copy}.`);
  const files = new OpenFiles({ access, onConflict });
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  try {
    await mountFuse(Fuse, mountPoint, new Handlers({ access, files, owner }), isUp);
  } catch (cause) {
    await rm(drafts, { recursive: true, force: true });
    throw new LockstepError(
      'mount-unavailable',
      `${mountPoint} cannot be mounted: ${(cause as Error).message}. Is fuse3 installed, and may this user open /dev/fuse?`,
      { cause },
    );
  }
  const ended = new AbortController();
  const removed = (async () => {
    while (await isMounted(mountPoint)) await delay(mountCheckMs, undefined, { signal: ended.signal });
  })();
  return {
    // Without end once `end` was called.
    removed: removed.catch(() => new Promise<void>(() => undefined)),
    async end() {
      ended.abort();
      await access.settled();
      const failed = await files.closeAll();
      for (const path of failed) say(`${path} could not be saved: what was written last is lost.`);
      if (await isMounted(mountPoint)) await unmount(mountPoint);
      reserver?.end();
      await rm(drafts, { recursive: true, force: true });
    },
  };
}
