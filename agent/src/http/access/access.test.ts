import { expect, test } from 'vitest';
import { Access, type AccessOptions } from './access.ts';
import type { Session } from './sessions.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** An access with a clock that the test moves, and the sessions that it stored last. */
async function open(more: Partial<AccessOptions> = {}) {
  const clock = { ms: 1_000_000 };
  const stored: (readonly Session[])[] = [];
  const store = {
    load: () => Promise.resolve(stored.at(-1) ?? []),
    save: (sessions: readonly Session[]) => {
      stored.push(sessions);
      return Promise.resolve();
    },
  };
  const options = { memberId: 'ant', sessionStore: store, nowMs: () => clock.ms, log, ...more };
  return { clock, stored, options, access: await Access.open(options) };
}

const tokenOf = (access: Access): string =>
  new URL(access.loginLink('http://localhost/').url).searchParams.get('token') ?? '';

test('[AC4] a link works for ten minutes, and once', async () => {
  const { access, clock } = await open();
  const [late, early] = [tokenOf(access), tokenOf(access)];
  clock.ms += 10 * minuteMs - 1;
  expect(access.logIn(early)).toMatch(/^lockstep-ant=/);
  expect(access.logIn(early)).toBeUndefined();
  clock.ms += 1;
  expect(access.logIn(late)).toBeUndefined();
  expect(access.logIn('')).toBeUndefined();
});

test('[AC4] of many links the oldest ends first', async () => {
  const { access } = await open();
  const tokens = Array.from({ length: 17 }, () => tokenOf(access));
  expect(access.logIn(tokens[0] ?? '')).toBeUndefined();
  expect(access.logIn(tokens[1] ?? '')).toBeDefined();
});

test('[AC4] a login lasts ninety days, also over a restart that finds the stored sessions', async () => {
  const { access, clock, options, stored } = await open();
  const cookie = access.logIn(tokenOf(access))?.split(';')[0] ?? '';
  await access.flushed();
  expect(JSON.stringify(stored)).not.toContain(cookie.split('=')[1]);
  const again = await Access.open(options);
  clock.ms += 90 * dayMs - 1;
  for (const each of [access, again]) expect(each.sessions.find(`other=1; ${cookie}`)).toBeDefined();
  clock.ms += 1;
  for (const each of [access, again]) expect(each.sessions.find(cookie)).toBeUndefined();
});

test('[AC4] sessions that cannot be stored work until the agent ends', async () => {
  const failing = { load: () => Promise.resolve([]), save: () => Promise.reject(new Error('ENOSPC')) };
  const { access } = await open({ sessionStore: failing });
  const cookie = access.logIn(tokenOf(access))?.split(';')[0] ?? '';
  await access.flushed();
  expect(access.sessions.find(cookie)).toBeDefined();
});

test('[AC5] each wrong password doubles the pause, up to a minute; the right one ends it', async () => {
  const password = {
    isSet: () => Promise.resolve(true),
    isRight: (given: string) => Promise.resolve(given === 'right'),
  };
  const { access, clock } = await open({ password });
  for (const pauseS of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(await access.logInByPassword('wrong')).toEqual({ cookie: undefined });
    expect(await access.logInByPassword('right')).toEqual({ waitS: pauseS });
    clock.ms += pauseS * 1_000;
  }
  expect(await access.logInByPassword('right')).toMatchObject({ cookie: expect.stringContaining('lockstep-ant=') });
  expect(await access.logInByPassword('right')).toHaveProperty('cookie');
});

test('[AC5] passwords are checked one at a time, and none is right if none was set', async () => {
  let answer: (isRight: boolean) => void = () => undefined;
  const isRight = () => new Promise<boolean>((resolve) => (answer = resolve));
  const { access } = await open({ password: { isSet: () => Promise.resolve(true), isRight } });
  const first = access.logInByPassword('right');
  expect(await access.logInByPassword('right')).toEqual({ waitS: 1 });
  answer(true);
  expect(await first).toHaveProperty('cookie', expect.any(String));
  const { access: none } = await open();
  expect(await none.hasPassword()).toBe(false);
  expect(await none.logInByPassword('')).toEqual({ cookie: undefined });
});
