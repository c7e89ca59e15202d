import { DiskError } from '../disk/disk-error.ts';
import type { UserShell } from '../users/user-shell.ts';

/** The entries that a change begins with, and those that it makes. The most frequent one comes several times. */
export const encounterPaths = [
  'd/file',
  'd/file',
  'd/file',
  'd/sub/x',
  'd/link',
  'd/sub',
  'd/new',
  'd/moved',
  'd',
  'e/file',
  'd/bus',
];

/** One of each kind of change that a member applies for another one. */
export const encounterChanges: Readonly<Record<string, (shell: UserShell) => void>> = {
  overwrite: (shell) => shell.writeNew('d/file'),
  saveByRename: (shell) => {
    shell.writeNew('d/.file.new');
    shell.rename('d/.file.new', 'd/file');
  },
  remove: (shell) => shell.remove('d/file'),
  create: (shell) => shell.writeNew('d/new'),
  chmod: (shell) => shell.chmod('d/file', 0o600),
  touch: (shell) => shell.touch('d/file', 1_000_000),
  rename: (shell) => shell.rename('d/file', 'd/moved'),
  renameOver: (shell) => shell.rename('d/file', 'd/sub/x'),
  renameOntoDirectory: (shell) => {
    shell.rename('d/sub', 'd/bus');
    shell.rename('d/file', 'd/sub');
  },
  exchange: (shell) => {
    shell.rename('d/file', 'd/temporary');
    shell.rename('d/sub/x', 'd/file');
    shell.rename('d/temporary', 'd/sub/x');
  },
  renameTree: (shell) => shell.rename('d', 'e'),
  renameBranch: (shell) => shell.rename('d/sub', 'd/bus'),
  removeTree: (shell) => shell.removeTree('d'),
  removeBranch: (shell) => shell.removeTree('d/sub'),
  fileToTree: (shell) => {
    shell.remove('d/file');
    shell.makeDirectories('d/file');
    shell.writeNew('d/file/in');
  },
  fileToDirectory: (shell) => {
    shell.remove('d/file');
    shell.makeDirectories('d/file');
  },
  directoryToFile: (shell) => {
    shell.removeTree('d/sub');
    shell.writeNew('d/sub');
  },
  relink: (shell) => {
    shell.remove('d/link');
    link(shell, 'd/link');
  },
  linkToFile: (shell) => {
    shell.remove('d/link');
    shell.writeNew('d/link');
  },
  fileToLink: (shell) => {
    shell.remove('d/file');
    link(shell, 'd/file');
  },
};

/** Makes those of the entries that are missing. */
export function prepareEncounter(shell: UserShell): void {
  attempt(() => {
    shell.makeDirectories('d/sub');
    for (const path of ['d/file', 'd/sub/x']) if (shell.disk.at(path) === undefined) shell.writeNew(path);
    if (shell.disk.at('d/link') === undefined) link(shell, 'd/link');
  });
}

/** Acts as far as the disk allows it: another change may have removed an entry. */
export function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
  }
}

function link(shell: UserShell, path: string): void {
  const name = shell.ledger.nextName();
  shell.symlink(path, name, `to-${name}`);
}
