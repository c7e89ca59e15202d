import { expect, test } from 'vitest';
import { fileSystemOf, judgeFileSystem } from './file-system.ts';
import { judgeNode } from './node-version.ts';
import { judgeSecret, judgeWriting } from './permissions.ts';

const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /srv rw,nosuid shared:2 - xfs /dev/sdb1 rw
31 30 0:26 / /srv/my\\040disk rw - nfs4 nas:/export rw
32 30 0:27 / /srv/over rw - btrfs /dev/sdc rw
33 32 0:28 / /srv/over rw - fuse.sshfs far: rw
34 22 7:0 / /broken rw,relatime - ext4 /dev/loop0 rw,abort,emergency_ro`;

test.each([
  ['/srv/my disk/shared', 'nfs4'],
  ['/srv/my', 'xfs'],
  ['/srv/over', 'fuse.sshfs'],
  ['/home/alice', 'ext4'],
])('[DR3] %s is on %s', (path, type) => {
  expect(fileSystemOf(path, mountinfo)?.type).toBe(type);
});

test('[DR3] a disk that the system stopped after an error is not written', () => {
  expect(judgeWriting('/broken/shared', mountinfo)).toEqual([
    expect.objectContaining({
      level: 'fail',
      detail: expect.stringMatching(/^The disk of \/broken\/shared was made read-only/),
    }),
  ]);
  expect(judgeWriting('/home/alice', mountinfo)).toEqual([]);
});

test('[DR3] a key that others can read on a disk without permissions needs more than a chmod', () => {
  const key = '/srv/over/shared/.lockstep/identity.key';
  expect(judgeSecret(key, 0o100600, mountinfo)).toEqual([]);
  expect(judgeSecret(key, 0o100777, mountinfo)).toEqual([
    expect.objectContaining({
      level: 'fail',
      remedy: `chmod 600 ${key}. If the mode stays as it is, fuse.sshfs keeps none: mount the disk with umask=077.`,
    }),
  ]);
  expect(judgeSecret('/home/alice/key', 0o100640, mountinfo)).toEqual([
    expect.objectContaining({ level: 'fail', remedy: 'chmod 600 /home/alice/key' }),
  ]);
});

test.each([
  ['ext4', 'ok', /on ext4/],
  ['overlay', 'ok', /on overlay/],
  ['nfs4', 'warn', /another machine/],
  ['cifs', 'warn', /another machine/],
  ['fuse.sshfs', 'warn', /raises no event/],
  ['fuseblk', 'warn', /raises no event/],
  ['tmpfs', 'warn', /gone after a restart/],
  ['vfat', 'warn', /no permissions/],
])('[DR3] %s is judged %s', (type, level, detail) => {
  expect(judgeFileSystem(type)).toMatchObject({ level, detail: expect.stringMatching(detail) });
});

test.each([
  ['20.19.0', 0],
  ['22.0.0', 0],
  ['20.18.3', 1],
  ['18.20.0', 1],
])('[DR7] Node %s gives %i failures', (version, failures) => {
  expect(judgeNode(version)).toHaveLength(failures);
});
