import { expect, test } from 'vitest';
import { type Token, Tokens } from './tokens.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Tokens with a clock that the test moves, and what they stored last. */
async function open() {
  const clock = { ms: 1_000_000 };
  const disk: { records: readonly Token[]; isFull: boolean; saves: number } = { records: [], isFull: false, saves: 0 };
  const store = {
    load: () => Promise.resolve(structuredClone(disk.records)),
    save: (records: readonly Token[]) => {
      if (disk.isFull) return Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
      disk.records = structuredClone(records);
      disk.saves++;
      return Promise.resolve();
    },
  };
  const options = { store, nowMs: () => clock.ms, log };
  return { clock, disk, options, tokens: await Tokens.open(options) };
}

test('[AC7] only the hash of a token is stored, and it works after a restart', async () => {
  const { tokens, options, disk } = await open();
  const { text, token } = await tokens.add('backup', true, undefined);
  expect(text).toMatch(/^lockstep_[0-9a-f]{8}_[\w-]{43}$/);
  expect(JSON.stringify(disk.records)).not.toContain(text.slice(-43));
  expect(tokens.check(text)).toEqual({ token });
  const again = await Tokens.open(options);
  expect(again.check(text)).toMatchObject({ token: { name: 'backup', isReadOnly: true } });
  for (const wrong of ['', text.slice(0, -1), `${text}x`, text.replace('lockstep_', '')]) {
    const fresh = await Tokens.open(options);
    expect(fresh.check(wrong)).toEqual({ token: undefined });
  }
});

test('[AC7] a token expires, and a removed one is gone at once and after a restart', async () => {
  const { tokens, clock, options } = await open();
  const day = await tokens.add('day', false, 86_400_000);
  const removed = await tokens.add('removed', false, undefined);
  clock.ms += 86_400_000 - 1;
  expect(tokens.check(day.text)).toEqual({ token: day.token });
  clock.ms += 1;
  expect(tokens.isValid(day.token)).toBe(false);
  expect(tokens.check(day.text)).toEqual({ token: undefined });
  expect(tokens.list().map(({ name }) => name)).toEqual(['day', 'removed']);
  const removal = tokens.remove('removed');
  expect(tokens.isValid(removed.token)).toBe(false);
  expect(await removal).toBe(true);
  expect(await tokens.remove('removed')).toBe(false);
  expect((await Tokens.open(options)).check(removed.text)).toEqual({ token: undefined });
});

test('[AC7] wrong secrets of a token wait longer each time; wrong tokens do not delay the right ones', async () => {
  const { tokens, clock } = await open();
  const { text, token } = await tokens.add('script', false, undefined);
  expect(tokens.check('nonsense')).toEqual({ token: undefined });
  expect(tokens.check(`lockstep_00000000_${'A'.repeat(43)}`)).toEqual({ waitS: 1 });
  expect(tokens.check(text)).toEqual({ token });
  const guess = text.slice(0, -43) + 'A'.repeat(43);
  for (const pauseS of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(tokens.check(guess)).toEqual({ token: undefined });
    expect(tokens.check(text)).toEqual({ waitS: pauseS });
    clock.ms += pauseS * 1_000;
  }
  expect(tokens.check(text)).toEqual({ token });
});

test('[AC7] the time of the last use is known, and is stored within minutes and at the end', async () => {
  const { tokens, clock, disk } = await open();
  const { token } = await tokens.add('script', false, undefined);
  expect([token.lastUsedAt, disk.saves]).toEqual([null, 1]);
  clock.ms += 5_000;
  tokens.used(token);
  expect([token.lastUsedAt, disk.saves]).toEqual([clock.ms, 1]);
  clock.ms += 600_000;
  tokens.used(token);
  await tokens.flushed();
  expect([disk.records[0]?.lastUsedAt, disk.saves]).toEqual([clock.ms, 2]);
  clock.ms += 1_000;
  tokens.used(token);
  await tokens.flushed();
  expect([disk.records[0]?.lastUsedAt, disk.saves]).toEqual([clock.ms, 3]);
});

test('[AC7] a name has one token, there are 64 at most, and one that cannot be stored is none', async () => {
  const { tokens, disk } = await open();
  disk.isFull = true;
  await expect(tokens.add('a', false, undefined)).rejects.toMatchObject({
    code: 'folder-not-writable',
    message: expect.stringMatching(/ENOSPC.*No token was made/),
  });
  expect(tokens.list()).toEqual([]);
  disk.isFull = false;
  for (let count = 0; count < 64; count++) await tokens.add(`t${count}`, false, undefined);
  await expect(tokens.add('t1', false, undefined)).rejects.toMatchObject({ code: 'request-invalid' });
  await expect(tokens.add('more', false, undefined)).rejects.toThrow('64 tokens');
  disk.isFull = true;
  await expect(tokens.remove('t1')).rejects.toThrow('brings it back');
  expect(tokens.list()).toHaveLength(63);
});
