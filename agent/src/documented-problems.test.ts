import { readFile } from 'node:fs/promises';
import { problemCodes } from '@lockstep/shared';
import { expect, test } from 'vitest';

/** The parts of each entry of the runbook. */
const parts = ['Means', 'Lockstep', 'You', 'Over when'];

/** The entries of the runbook's problems: the heading, and the text below it. */
async function entries(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## Runbook: problems$(.*?)(?=^## )/ms.exec(page) ?? [];
  const found = section.split(/^### /m).slice(1);
  return new Map(found.map((entry) => [entry.slice(0, entry.indexOf('\n')), entry]));
}

test('docs/OPERATIONS.md has an entry for every problem code, and for no other', async () => {
  expect([...(await entries()).keys()].sort()).toEqual([...problemCodes].sort());
});

test.each(problemCodes)(
  'the entry of %s says what it means, what Lockstep does, what to do, and when it is over',
  async (code) => {
    const entry = (await entries()).get(code) ?? '';
    expect([...entry.matchAll(/^- \*\*([^*]+)\*\*: \S/gm)].map(([, part]) => part)).toEqual(parts);
  },
);
