import { expect, test } from 'vitest';
import { lostText } from './lost-text.ts';

test.each([
  ['', 'is empty'],
  [' \n', 'is empty'],
  ['\0\0\0', 'contains zeros instead of text'],
  ['name = "ant"\n\0\0', 'contains zeros instead of text'],
  ['name = "ant"\n', undefined],
])('the text %j: %s', (text, said) => {
  expect(lostText(text)).toBe(said);
});
