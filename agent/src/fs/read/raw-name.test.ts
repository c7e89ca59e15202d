import { expect, test } from 'vitest';
import { decodeName, showName } from './raw-name.ts';

test.each<[bytes: readonly number[], text: string | undefined, shown: string]>([
  [[], '', ''],
  [[0x61], 'a', 'a'],
  [[0xc3, 0xa9], 'é', 'é'],
  [[0xf0, 0x9f, 0x90, 0x9c], '🐜', '🐜'],
  [[0xef, 0xbf, 0xbd], '\ufffd', '\ufffd'],
  [[0xff], undefined, '\\xff'],
  [[0x61, 0xe9], undefined, 'a\\xe9'],
  [[0xff, 0xfe, 0x41], undefined, '\\xff\\xfeA'],
  [[0xc3, 0xa9, 0xc3], undefined, 'é\\xc3'],
  [[0xf0, 0x9f, 0x90, 0x41], undefined, '\\xf0\\x9f\\x90A'],
  [[0xed, 0xa0, 0x80], undefined, '\\xed\\xa0\\x80'],
])('[LC10] the name for the bytes %j', (bytes, text, shown) => {
  expect(decodeName(Buffer.from(bytes))).toBe(text);
  expect(showName(Buffer.from(bytes))).toBe(shown);
});
