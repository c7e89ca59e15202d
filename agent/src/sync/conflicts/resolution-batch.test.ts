import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { conflictPath } from '../../core/conflict-name.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { directoryDraft, hasCopy } from './resolution-batch.ts';

test('[MG8] a resurrected directory gets the last mode that it had, regardless of later entries at the path', () => {
  const bee = new ScriptedPeer('b');
  const { engine, journal } = openTestMember([bee]);
  const { origin } = bee;
  const at = (seq: number): Pick<Operation, 'origin' | 'seq' | 'hlc' | 'path' | 'version'> => {
    return { origin, seq, hlc: seq, path: 'd', version: { vector: { [origin]: seq } } };
  };
  const directories = [0o755, 0o700].map((mode, index): Operation => ({ ...at(index + 1), kind: 'mkdir', mode }));
  const links = Array.from({ length: 200 }, (_, index): Operation => {
    return { ...at(index + 3), kind: 'symlink', target: `${index}`, mtimeUs: 0 };
  });
  journal.append([...directories, ...links, { ...at(203), kind: 'delete' }]);
  const heads = journal.heads.at('d');
  expect(heads).toMatchObject([{ kind: 'delete' }]);
  expect(directoryDraft(engine.context, 'd', heads)).toEqual({ path: 'd', kind: 'mkdir', mode: 0o700, parents: heads });
  expect(directoryDraft(engine.context, 'unheard-of', [])).toMatchObject({ kind: 'mkdir', mode: 0o755 });
});

test.each([
  { what: 'that already has a copy gets no other one', moved: false, has: true },
  { what: 'to whose name the user moved its copy gets one', moved: true, has: false },
])('[CF2] a loser $what', async ({ moved, has }) => {
  const bee = new ScriptedPeer('b');
  const { engine, journal } = openTestMember([bee]);
  const { origin } = bee;
  const copy = conflictPath('f', 1_024, 'bee');
  const put = (seq: number, path: string, text: string, from?: string): Operation => {
    const { id: content, size } = contentOfText(text);
    const version = { vector: { [origin]: seq }, exceptions: { [origin]: seq === 3 ? [2] : [] } };
    const entry = { kind: 'put', content, size, mode: 0o644, mtimeUs: 0, ...(from && { from }) } as const;
    return { origin, seq, hlc: seq * 1_024, path, version, ...entry };
  };
  const [visible, loser] = [put(2, 'f', 'visible'), put(3, 'f', 'loser', moved ? copy : undefined)];
  journal.append([put(1, copy, 'loser'), visible, loser]);
  // The copy is journaled with the content that the user moved away: the entry that now has its name has not been examined yet.
  expect(await hasCopy(engine.context, loser, conflictPath('f', loser.hlc, 'bee'))).toBe(has);
});
