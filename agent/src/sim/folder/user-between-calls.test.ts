import type { ContentId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import { doOne, fingerprintAt, observeOne, textOf, tryOne, writeRequest } from '../../fs/folder-subject.contract.ts';
import type { Action, ActionRequest, ActionResult } from '../../sync/ports/folder.ts';
import { contentOfText } from '../disk/content.ts';
import type { Disk } from '../disk/disk.ts';
import { openSimSubject, type SimSubject } from './sim-subject.contract.ts';

describe('[MT4] a user acts between any two system calls of an action', () => {
  const old = 'the old version';
  /** More calls than one action makes. */
  const callsMax = 60;

  async function actionsBesides(
    action: (expected: Fingerprint) => Action,
    act: (disk: Disk) => void,
    check: (subject: SimSubject, result: ActionResult) => Promise<void>,
  ): Promise<void> {
    for (let call = 1; call <= callsMax; call++) {
      const subject = openSimSubject();
      const expected = await doOne(subject, writeRequest(subject, 'file', old));
      await subject.tick();
      subject.beforeCall(call, () => act(subject.volume.disk));
      const result = await tryOne(subject, action(expected));
      subject.beforeCall(0, () => {});
      await check(subject, result);
      await subject.close();
    }
  }

  const attributes = { mode: 0o600, mtimeUs: 1_500_000_000_000_000 };
  const actions: [what: string, (expected: Fingerprint) => Action][] = [
    ['attr', (expected) => ({ do: 'attr', path: 'file', expected, ...attributes })],
    ['attr of the mode', (expected) => ({ do: 'attr', path: 'file', expected, mode: attributes.mode })],
    [
      'rename',
      (expectedFrom) => ({
        do: 'rename',
        from: 'file',
        to: 'other',
        expectedFrom,
        expected: 'absent',
        ...attributes,
      }),
    ],
  ];

  test.each(actions)('%s: a write in place is distinguished from the old content', async (_what, action) => {
    await actionsBesides(
      action,
      (disk) => void disk.write(disk.at('file') === undefined ? 'other' : 'file', contentOfText('the new version')),
      async (subject, result) => {
        if (result.result !== 'done' || result.racy) return;
        const path = subject.volume.disk.at('file') === undefined ? 'other' : 'file';
        // Written after the action: the next observation finds another fingerprint.
        const seen = await observeOne(subject, path, result.fingerprint);
        if (seen.state === 'same') expect(textOf(await subject.user.look(path))).toBe(old);
      },
    );
  });

  test.each(actions)('%s: a mode that a user set is not confused with the intended one', async (_what, action) => {
    await actionsBesides(
      action,
      (disk) => disk.chmod(disk.at('file') === undefined ? 'other' : 'file', 0o640),
      async (_, result) => {
        if (result.result !== 'done') return;
        expect((result.fingerprint?.mode ?? 0) & 0o777).not.toBe(0o640);
      },
    );
  });

  const seenDirectories: [what: string, act: (disk: Disk) => void][] = [
    ['moves it away', (disk) => disk.rename('file', 'moved')],
    ['removes it', (disk) => disk.rmdir('file')],
    [
      'puts a file in its place',
      (disk) => {
        disk.rename('file', 'moved');
        disk.write('file', contentOfText('theirs'));
      },
    ],
    [
      'puts a link in its place',
      (disk) => {
        disk.rename('file', 'moved');
        disk.symlink('file', 'elsewhere');
      },
    ],
    ['changes its mode', (disk) => disk.chmod('file', 0o700)],
  ];

  // Simulator, seed 124300: the row went on to name the replaced entry, so that what a user put at the free name superseded it.
  test.each(seenDirectories)(
    'mkdir over a file, and the user %s: the file is replaced as recorded, or not at all',
    async (_what, act) => {
      let acted = 0;
      await actionsBesides(
        (expected) => ({ do: 'mkdir', path: 'file', expected, mode: 0o755 }),
        (disk) => {
          if (disk.at('file')?.type !== 'directory') return;
          acted++;
          act(disk);
        },
        async ({ volume }, { result }) => {
          const texts = [...volume.disk.entries()].map(([, { content }]) =>
            new TextDecoder().decode(content?.parts[0]),
          );
          expect(texts.includes(old), result).toBe(result !== 'done');
        },
      );
      expect(acted).toBeGreaterThan(0);
    },
  );
});

test('[MT4] a write over the new version is an edit of the new one, and a write over the old version of the old one', async () => {
  for (let call = 1; call < 60; call++) {
    const subject = openSimSubject();
    const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
    const keep = contentOfText('old').id;
    await subject.tick();
    let over = 'nothing';
    subject.beforeCall(call, () => {
      over = new TextDecoder().decode(subject.volume.disk.at('file')?.content?.parts[0]);
      subject.volume.disk.write('file', contentOfText('theirs'));
    });
    const result = await tryOne(subject, writeRequest(subject, 'file', 'new', { expected, keep }));
    if (over !== 'nothing') expect(result.result).toBe(over === 'old' ? 'changed' : 'done');
    if (over !== 'nothing') expect(textOf(await subject.user.look('file'))).toBe('theirs');
    await subject.close();
  }
});

test.each<[string, (subject: SimSubject, expected: Fingerprint) => ActionRequest]>([
  ['unlink', (_subject, expected) => ({ action: { do: 'unlink', path: 'file', expected } })],
  ['mkdir', (_subject, expected) => ({ action: { do: 'mkdir', path: 'file', expected, mode: 0o755 } })],
  ['write', (subject, expected) => writeRequest(subject, 'file', 'new', { expected })],
  [
    'write of a file of the same size and time as the second edit',
    (subject, expected) => {
      const mtimeUs = subject.volume.disk.timeMs() * 1_000;
      return writeRequest(subject, 'file', 'of a member', { expected, mtimeUs });
    },
  ],
])('[MT4] %s: two edits between its calls are kept, unless the user replaced one', async (_what, action) => {
  for (let call = 1; call < 40; call++) {
    for (let later = 1; later <= 8; later++) {
      const subject = openSimSubject();
      const { disk } = subject.volume;
      const owed = new Set(['old']);
      const edit = (text: string): void => {
        if (disk.at('file')?.type === 'directory') return;
        owed.delete(new TextDecoder().decode(disk.at('file')?.content?.parts[0]));
        disk.write('file', contentOfText(text));
        owed.add(text);
      };
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      await subject.tick();
      subject.beforeCall(call, () => {
        edit('first edit');
        subject.beforeCall(later, () => edit('second edit'));
      });
      const { result } = await tryOne(subject, action(subject, expected));
      if (result === 'done') owed.delete('old');
      const left = [...disk.entries()].flatMap(([, { content }]) => (content === undefined ? [] : [content]));
      const texts = left.map(({ parts }) => new TextDecoder().decode(parts[0]));
      expect(texts, `calls ${call} and ${later} more`).toEqual(expect.arrayContaining([...owed]));
      await subject.close();
    }
  }
});

test.each<[string, (subject: SimSubject, expected: Fingerprint, keep: ContentId) => ActionRequest]>([
  ['unlink', (_subject, expected, keep) => ({ action: { do: 'unlink', path: 'file', expected }, keep })],
  ['write', (subject, expected, keep) => writeRequest(subject, 'file', 'new', { expected, keep })],
])('[MT4] %s: an edit with size and times of the version that it changed is kept', async (_what, action) => {
  for (let call = 1; call < 40; call++) {
    const subject = openSimSubject();
    const { disk } = subject.volume;
    const old = contentOfText('one');
    disk.write('file', old);
    const expected = await fingerprintAt(subject, 'file');
    let isEdited = false;
    subject.beforeCall(call, () => {
      const inode = disk.at('file');
      if (inode?.content !== old) return;
      const { mtimeMs, ctimeMs } = inode;
      disk.write('file', contentOfText('two'));
      isEdited = mtimeMs === inode.mtimeMs && ctimeMs <= inode.ctimeMs;
    });
    const { result } = await tryOne(subject, action(subject, expected, old.id));
    if (isEdited) expect(result, `call ${call}`).toBe('changed');
    if (isEdited) expect(textOf(await subject.user.look('file')), `call ${call}`).toBe('two');
    await subject.close();
  }
});
