import { statfs } from 'node:fs/promises';
import { freeBytesMin } from '@lockstep/shared';
import { formatBytes, formatCount, formatItems } from '@lockstep/shared/present';
import { inodesOf, inodesReserve, lacksInodes } from '../../core/disk-room.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import type { Subject } from './subject.ts';

const { ok, warn, fail } = resultsOf('disk space');

/** The number of free inodes below which the doctor warns. */
const freeEntriesMin = 10_000;

/** Checks the free space for new files, the journal and replaced versions. */
export async function checkDisk({ directory, config }: Subject): Promise<readonly CheckResult[]> {
  const { bavail, blocks, bsize, ...stats } = await statfs(directory);
  const inodes = inodesOf(stats);
  const free = bavail * bsize;
  const found: CheckResult[] = [];
  const room = config?.historySize ?? { bytes: 0 };
  const roomForHistory = 'bytes' in room ? room.bytes : blocks * bsize * room.share;
  if (free < freeBytesMin) {
    const detail = `Only ${formatBytes(free)} are free: below ${formatBytes(freeBytesMin)} no more files are written here.`;
    found.push(fail(detail, 'Free some space on the disk of the folder.'));
  } else if (free < roomForHistory) {
    const detail = `${formatBytes(free)} are free, and replaced versions may take up to ${formatBytes(roomForHistory)}.`;
    found.push(warn(detail, 'Free some space, or lower history_size in .lockstep/config.toml.'));
  }
  if (inodes !== undefined && inodes.free < freeEntriesMin) {
    const has = `The disk has room for only ${formatItems(inodes.free, 'more file or directory', 'more files and directories')}, whatever their size`;
    const remedy = 'Remove small files, or move the folder to a disk that was formatted with more inodes.';
    const least = formatCount(inodesReserve(inodes));
    found.push(
      lacksInodes(inodes) ? fail(`${has}; the last ${least} are left free.`, remedy) : warn(`${has}.`, remedy),
    );
  }
  return found.length > 0 ? found : [ok(`${formatBytes(free)} are free.`)];
}
