import {
  carriedPathFault,
  isMemberPath,
  isStateName,
  isStatePath,
  type MemberId,
  memberPath,
  pathFault,
} from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conflictPath } from './conflict-name.ts';

/** Names that some file system takes for `.lockstep`. */
const spellings: readonly (readonly [what: string, name: string])[] = [
  ['itself', '.lockstep'],
  ['capitals', '.LOCKSTEP'],
  ['some capitals', '.lOcKsTeP'],
  ['the Kelvin sign', '.loc\u212astep'],
  ['the long s', '.lock\u017ftep'],
  ['full-width letters', '.\uff4cockstep'],
  ['a full-width dot', '\uff0elockstep'],
  ['a one dot leader', '\u2024lockstep'],
  ['the ligature of st', '.lock\ufb06ep'],
  ['mathematical letters', '.\u{1d4f5}ockstep'],
  ['a zero-width joiner', '.lock\u200dstep'],
  ['a zero-width blank in front', '\ufeff.lockstep'],
  ['a soft hyphen', '.lock\u00adstep'],
  ['a variation selector', '.lockstep\ufe0f'],
  ['a direction mark', '\u202e.lockstep'],
  ['a control character', '.lockstep\u0001'],
  ['a dot at the end', '.lockstep.'],
  ['dots and blanks at the end', '.lockstep . .'],
  ['an ideographic blank at the end', '.lockstep\u3000'],
  ['a stream', '.lockstep::$DATA'],
  ['a named stream', '.LOCKSTEP:x:$INDEX_ALLOCATION'],
  ['a blank before a stream', '.lockstep :x'],
  ['a short name', 'LOCKST~1'],
  ['a later short name', 'lockst~12'],
  ['a short name from a hash', 'LO3F7A~1'],
];

describe('[WT8] every spelling of .lockstep is reserved', () => {
  test.each(spellings)('%s', (_, name) => {
    expect(isStateName(name)).toBe(true);
    for (const path of [name, `${name}/identity.key`, `a/${name}`, `a/${name}/x`]) {
      expect(isStatePath(path)).toBe(true);
      expect(pathFault(path)).toBe('lies inside .lockstep');
      // A journal of an earlier version may hold it: it can be sent, and is not shown.
      if (name !== '.lockstep') expect(carriedPathFault(path)).toBeUndefined();
    }
  });

  test.each([
    ...[
      '.lockstepignore',
      '.lockstepper',
      'lockstep',
      'x.lockstep',
      '.lockstep.txt',
      '.lockstep~',
      '.lock step',
      'LOCKST',
      'lockst~x',
    ],
    ...['locks~1', '..lockstep', '.lockstèp', '.ロックステップ', 'lo~1', 'lo12345~1', 'ſ', '\u212a', '.lockste'],
  ])('%s is not', (name) => {
    expect(isStateName(name)).toBe(false);
    expect(isStatePath(`a/${name}/b`)).toBe(false);
    expect(pathFault(name)).toBeUndefined();
  });

  test('the member list is no entry of the folder', () => {
    const path = memberPath('abc' as MemberId);
    expect(isMemberPath(path)).toBe(true);
    expect(isMemberPath(path.toUpperCase())).toBe(false);
    expect(carriedPathFault('.lockstep/member')).toBe('lies inside .lockstep');
  });

  test('any text that JavaScript treats as equal is reserved', () => {
    const letters = [...'.lockstep'];
    const spelled = fc
      .tuple(
        ...letters.map((letter) => fc.constantFrom(letter, letter.toUpperCase(), fullWidth(letter))),
        fc.constantFrom('', '.', ' '),
      )
      .map((parts) => parts.join(''));
    const hidden = fc.tuple(spelled, fc.nat(9), fc.constantFrom('', '\u200c', '\u2060', '\u{e0001}'));
    fc.assert(
      fc.property(hidden, ([name, at, mark]) => {
        expect(isStateName(name.slice(0, at) + mark + name.slice(at))).toBe(true);
      }),
    );
  });

  test('no conflict copy gets such a name', () => {
    const name = fc.oneof(
      fc.constantFrom('.lockstep.x', '.lockste', 'lockst', '.LOCKSTEP-'),
      fc.string({
        unit: fc.constantFrom('.', 'l', 'o', 'c', 'k', 's', 't', 'e', 'p', '~', '1', ':', ' '),
        minLength: 1,
      }),
    );
    fc.assert(
      fc.property(name, (original) => {
        if (isStateName(original) || pathFault(original) !== undefined) return;
        expect(isStatePath(conflictPath(original, 1024, 'ant'))).toBe(false);
      }),
    );
  });
});

function fullWidth(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 0xfee0);
}
