import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { directoryDraft } from './resolution-batch.ts';

test('[MG8] a directory that is held up gets the mode that it had last, however much the path has been since', () => {
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
  const heads = journal.heads('d');
  expect(heads).toMatchObject([{ kind: 'delete' }]);
  expect(directoryDraft(engine.context, 'd', heads)).toEqual({ path: 'd', kind: 'mkdir', mode: 0o700, parents: heads });
  expect(directoryDraft(engine.context, 'unheard-of', [])).toMatchObject({ kind: 'mkdir', mode: 0o755 });
});
