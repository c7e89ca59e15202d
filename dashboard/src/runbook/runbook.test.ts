import { readFileSync } from 'node:fs';
import { problemCodes } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { runbookOf } from './runbook.ts';

const runbook = runbookOf(readFileSync(new URL('../../../docs/OPERATIONS.md', import.meta.url), 'utf8'));

describe('[DB-P3] the runbook', () => {
  test.each(problemCodes)('says of %s what it means, what Lockstep does, what to do, and when it is over', (code) => {
    expect(runbook[code]?.map(({ label }) => label)).toEqual(['Means', 'Lockstep', 'You', 'Over when']);
    const text = JSON.stringify(runbook[code]);
    expect(text).not.toMatch(/\*\*|\]\(|`/);
    for (const { lines } of runbook[code] ?? [])
      expect(
        lines
          .flat()
          .map(({ text }) => text)
          .join(''),
      ).not.toBe('');
  });

  test('keeps code, emphasis, the text of links, and nested points', () => {
    const entry = runbookOf(
      '### disk-full\n\n- **Means**: no `space`, _really_: see\n  [here](#x).\n  - one\n  - `two`\n',
    );
    expect(entry['disk-full']).toEqual([
      {
        label: 'Means',
        lines: [
          [
            { text: 'no ' },
            { text: 'space', style: 'code' },
            { text: ', ' },
            { text: 'really', style: 'em' },
            { text: ': see ' },
            { text: 'here' },
            { text: '.' },
          ],
          [{ text: 'one' }],
          [{ text: 'two', style: 'code' }],
        ],
      },
    ]);
  });
});
