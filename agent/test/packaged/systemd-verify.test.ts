import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { units, writeUnit } from './units.ts';

const execute = promisify(execFile);

test.each(Object.keys(units) as (keyof typeof units)[])(
  '[PK3] systemd finds no mistake in the unit of the %s',
  async (unit) => {
    const directory = await mkdtemp(join(inject('installed').space, 'unit-'));
    const path = await writeUnit(unit, directory, 'lockstep@srv-shared.service');
    const { stdout, stderr } = await execute('systemd-analyze', ['verify', '--man=no', path]);
    expect(stdout + stderr).toBe('');
  },
);

test('[PK3] the exposure of the system service is at most 2 of 10 points', async () => {
  const directory = await mkdtemp(join(inject('installed').space, 'unit-'));
  const path = await writeUnit('system', directory, 'lockstep@srv-shared.service');
  const { stdout } = await execute('systemd-analyze', [
    'security',
    '--offline=true',
    '--threshold=20',
    '--no-pager',
    path,
  ]);
  expect(stdout).toMatch(/Overall exposure level for \S+: [01]\.\d OK/);
});
