import { expect, test } from 'vitest';
import { remedyFor } from './permissions.ts';

const user = process.getuid?.() ?? 0;

test('[DR8] a user who owns an entry is advised to change its mode, and another one to act as its owner', () => {
  const change = 'Give this user the rights: chmod u+rwx /srv/office';
  expect(remedyFor('/srv/office', 'rwx', user)).toBe(change);
  expect(remedyFor('/srv/office', 'rwx', user + 1)).toBe(
    `Run as its owner, the user ${user + 1}, or give it to this user, as root: chown -R ${user} /srv/office`,
  );
});
