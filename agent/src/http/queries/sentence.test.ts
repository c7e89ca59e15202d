import { expect, test } from 'vitest';
import { asSentence } from './sentence.ts';

test('a reason becomes a sentence', () => {
  expect(asSentence('its content is being fetched')).toBe('Its content is being fetched.');
  expect(asSentence('elk has no room', 'elk')).toBe('elk has no room.');
  expect(asSentence('elkhorn has no room', 'elk')).toBe('Elkhorn has no room.');
  expect(asSentence('src/a is a pipe.', 'src/a')).toBe('src/a is a pipe.');
  expect(asSentence('No room. Free some space.')).toBe('No room. Free some space.');
});
