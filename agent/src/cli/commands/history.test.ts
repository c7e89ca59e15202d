import type { PathVersion } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { formatHistory } from './history.ts';

const version: PathVersion = {
  origin: 'a',
  seq: 2,
  member: 'a',
  memberName: 'ant',
  at: 0,
  hlc: 0,
  kind: 'put',
  path: 'film.mkv',
  content: 'content-of-the-film',
  size: 12e6,
  row: 2,
  journaledAt: 0,
  version: 'a:2',
  label: 'ant:2',
  type: 'file',
  isCurrent: true,
  place: null,
  members: [],
  restorable: false,
};

function shown(silent: readonly string[]): string {
  const page = { path: 'film.mkv', versions: [version], more: false, silent: [...silent] };
  return formatHistory(page, (_style, text) => text);
}

test('[OV2] a content that no member has is nowhere, unless a member that may have it has not answered', () => {
  expect(shown([])).toContain('current version; nowhere now');
  const answer = shown(['ant']);
  expect(answer).toContain('current version; no member that answered');
  expect(answer).toContain('Not asked, or no answer: ant.');
});
