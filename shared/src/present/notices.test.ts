import { expect, test } from 'vitest';
import type { Cause } from './causes.ts';
import { afterTelling, decideNotices, type NoticeRules, noticeText, type Remembered, tellsOf } from './notices.ts';

const rules: NoticeRules = { about: ['down', 'conflict', 'disk', 'problem'], afterMs: 300_000, speaks: () => true };
const down: Cause = { key: 'down bee', kind: 'down', member: 'bee', text: 'bee is down' };
const full: Cause = { key: 'room cat', kind: 'disk', member: 'cat', text: 'cat has a problem: disk full' };
const conflicts = (count: number): Cause => ({
  key: 'conflict',
  kind: 'conflict',
  member: 'ant',
  text: `${count}`,
  count,
});

/** Plays the state of each second, and returns what was told: `second begun key`. A failed delivery is not told. */
class Watch {
  remembered: readonly Remembered[] = [];
  readonly told: string[] = [];
  second = 0;

  run(
    seconds: number,
    causes: readonly Cause[],
    more: Partial<NoticeRules> & { hides?: boolean; fails?: boolean } = {},
  ): this {
    const { hides = false, fails = false, ...others } = more;
    for (const end = this.second + seconds; this.second < end; this.second++) {
      const now = this.second * 1_000;
      const notices = decideNotices(this.remembered, causes, () => hides, now, { ...rules, ...others });
      this.remembered = fails ? notices.remembered : afterTelling(notices, causes, now);
      if (fails) continue;
      for (const { key } of notices.begun) this.told.push(`${this.second} ${key}`);
      for (const { key } of notices.over) this.told.push(`${this.second} over ${key}`);
    }
    return this;
  }

  /** Another agent with what the first one stored. */
  restart(awaySeconds: number): this {
    this.second += awaySeconds;
    this.remembered = this.remembered.map(({ goneAt: _, ...kept }) => kept);
    return this;
  }
}

test('[NT1] a cause is told once, and once when it is over', () => {
  expect(new Watch().run(5_000, [down]).run(500, []).run(5_000, []).told).toEqual([
    '300 down bee',
    '5060 over down bee',
  ]);
});

test('[NT1] a cause that ends before its time is not told', () => {
  expect(new Watch().run(299, [down]).run(5, []).run(299, [down]).run(500, []).told).toEqual([]);
});

test('[NT1] a cause that comes and goes within a minute is one', () => {
  const watch = new Watch().run(400, [down]);
  for (let time = 0; time < 20; time++) watch.run(40, []).run(40, [down]);
  expect(watch.told).toEqual(['300 down bee']);
  expect(watch.run(100, []).told).toHaveLength(2);
});

test('[NT1] one that returns is told again', () => {
  expect(new Watch().run(20, [full]).run(100, []).run(20, [full]).told).toEqual([
    '10 room cat',
    '80 over room cat',
    '130 room cat',
  ]);
});

test('[NT2] causes of one moment are told together, and only of the kinds that are asked for', () => {
  expect(new Watch().run(20, [full, conflicts(2)], { about: ['conflict'] }).told).toEqual(['10 conflict']);
  expect(new Watch().run(20, [full, conflicts(2)]).told).toEqual(['10 room cat', '10 conflict']);
});

test('[NT2] more conflicts are told again after ten minutes', () => {
  const watch = new Watch().run(20, [conflicts(2)]).run(2_000, [conflicts(5)]);
  expect(watch.told).toEqual(['10 conflict', '610 conflict']);
  expect(watch.run(700, [conflicts(1)]).run(5, [conflicts(2)]).told).toHaveLength(3);
});

test('[NT3] an agent that starts again tells nothing twice, and does not take its absence for an end', () => {
  const watch = new Watch().run(400, [down, full]).restart(10_000).run(50, []).run(400, [down]);
  expect(watch.told).toEqual(['10 room cat', '300 down bee', '10460 over room cat']);
});

test('[NT4] a cause that is hidden is not over', () => {
  const watch = new Watch().run(400, [down]).run(1_000, [], { hides: true });
  expect(watch.told).toEqual(['300 down bee']);
  expect(watch.run(100, []).told).toEqual(['300 down bee', '1460 over down bee']);
});

test('[NT5] a member that does not speak counts as told what another one had half a minute to tell', () => {
  const silent = new Watch().run(700, [down], { speaks: () => false });
  expect(silent.run(700, [down]).told).toEqual([]);
  expect(silent.run(100, []).told).toEqual(['1460 over down bee']);
  expect(new Watch().run(320, [down], { speaks: () => false }).run(100, [down]).told).toEqual(['320 down bee']);
});

test('[NT5] that a member is down, and that this is over, is told by another one, even if its own id is the smallest', () => {
  const tellers = (all: readonly string[], key: string): readonly string[] =>
    all.filter((self) =>
      tellsOf(
        self,
        all.filter((other) => other !== self),
        { key },
      ),
    );
  expect(tellers(['bee', 'cat'], 'down ant')).toEqual(['bee']);
  expect(tellers(['ant', 'bee', 'cat'], 'room cat')).toEqual(['ant']);
  expect(tellers(['ant', 'bee', 'cat'], 'down bee')).toEqual(['ant']);
  // It is back, and would be the one to tell, but remembers nothing of it.
  expect(tellsOf('bee', ['ant', 'cat'], { key: 'down ant' })).toBe(true);
  expect(tellsOf('cat', ['ant', 'bee'], { key: 'down ant' })).toBe(false);
  expect(tellsOf('cat', ['ant', 'bee'], { key: 'alone cat' })).toBe(true);
});

test('[NT6] what could not be sent is sent later, and not at all once it is over', () => {
  expect(new Watch().run(500, [full], { fails: true }).run(10, [full]).told).toEqual(['500 room cat']);
  expect(new Watch().run(500, [full], { fails: true }).run(100, []).told).toEqual([]);
});

test('[NT1] the text names what is told, and counts the rest', () => {
  expect(noticeText([down, full], false)).toBe('bee is down; cat has a problem: disk full.');
  expect(noticeText([down], true)).toBe('Over: bee is down.');
  expect(
    noticeText(
      Array.from({ length: 10 }, () => down),
      false,
    ),
  ).toMatch(/; and 2 more\.$/);
});
