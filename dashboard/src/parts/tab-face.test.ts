import type { Tone, Verdict } from '@lockstep/shared/present';
import { expect, test } from 'vitest';
import { tabIcon, tabTitle } from './tab-face.ts';

function verdict(...found: readonly (readonly [tone: Tone, text: string])[]): Verdict {
  const [first = { tone: 'good' as const, text: 'All hold everything', about: { view: 'members' as const } }, ...rest] =
    found.map(([tone, text]) => ({ tone, text, about: { view: 'members' as const } }));
  return { tone: first.tone, text: first.text, parts: [first, ...rest], rest: '.' };
}

test.each<[string, string, Verdict | undefined, boolean]>([
  ['Overview · Lockstep', 'Overview', undefined, false],
  ['Overview · Lockstep', 'Overview', verdict(), false],
  ['Files · Lockstep', 'Files', verdict(['busy', 'bee is catching up']), false],
  ['(1) dog is down · Lockstep', 'Overview', verdict(['bad', 'dog is down'], ['busy', 'bee is catching up']), false],
  ['(2) dog is down · Files · Lockstep', 'Files', verdict(['bad', 'dog is down'], ['held', 'cat is paused']), false],
  ['(?) no answer · Files · Lockstep', 'Files', verdict(['bad', 'dog is down']), true],
])('[DB-A13] the title %s', (expected, view, found, isSilent) => {
  expect(tabTitle(view, found, isSilent)).toBe(expected);
});

test('[DB-A13] the icon differs by sign and by colour where a person is needed', () => {
  const drawn = (['good', 'held', 'bad', 'stale'] as const).map((tone) => decodeURIComponent(tabIcon(tone)));
  expect(new Set(drawn.map((svg) => /fill="(#\w+)"/.exec(svg)?.[1])).size).toBe(4);
  expect(new Set(drawn.map((svg) => / d="([^"]+)"/.exec(svg)?.[1])).size).toBe(4);
});
