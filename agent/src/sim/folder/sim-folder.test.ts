import { blockBytes, type ContentId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import { folderContract } from '../../fs/folder.contract.ts';
import {
  bytesOf,
  doOne,
  type FolderSubject,
  fingerprintAt,
  observeOne,
  textOf,
  tryOne,
  writeRequest,
} from '../../fs/folder-subject.contract.ts';
import type { Action, ActionRequest, ActionResult, Folder } from '../../sync/ports/folder.ts';
import { Life } from '../base/life.ts';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { WallClock } from '../base/sim-clock.ts';
import { blockOf, type Content, contentOfBytes, contentOfText, virtualContent } from '../disk/content.ts';
import type { Disk } from '../disk/disk.ts';
import type { Inode } from '../disk/inode.ts';
import { Volume } from '../disk/volume.ts';
import { idleWitness, openSimFolder } from './sim-folder.ts';

interface SimSubject extends FolderSubject {
  readonly volume: Volume;
  readonly life: Life;
  readonly scheduler: Scheduler;
  readonly crashed: Promise<'crashed'>;
  /** Calls `act` before the system call that is `count` calls ahead. */
  beforeCall(count: number, act: () => void): void;
  /** A new agent on the same volume. */
  reopen(): Folder;
}

/** Runs virtual time in the background while the test awaits results. */
function openSimSubject({ canSyncFileSystem = true } = {}): SimSubject {
  const random = new Random(7);
  const scheduler = new Scheduler(random.fork());
  const wall = new WallClock(scheduler, 0);
  const volume = new Volume({ wallMs: () => wall.preciseMs() });
  const { disk } = volume;
  let closed = false;
  let callsLeft = 0;
  let atCall = (): void => {};
  const openFolder = (life: Life) =>
    openSimFolder({
      memberName: 'ant',
      volume,
      scheduler,
      random: random.fork(),
      life,
      wall,
      watch: { delayMsMax: 10, overflowChance: 0 },
      callMsMax: 1,
      canSyncFileSystem,
      witness: {
        ...idleWitness,
        between: () => {
          callsLeft -= 1;
          if (callsLeft === 0) atCall();
        },
      },
    });
  let life = new Life();
  const crashed = new Promise<'crashed'>((resolve) => {
    life = new Life(() => resolve('crashed'));
  });
  const turn = async (): Promise<void> => {
    await scheduler.run(scheduler.nowMs + 100);
    if (!closed) setImmediate(() => void turn());
  };
  void turn();
  return {
    folder: openFolder(life),
    volume,
    life,
    crashed,
    scheduler,
    reopen: () => openFolder(new Life()),
    beforeCall: (count, act) => {
      callsLeft = count;
      atCall = act;
    },
    user: {
      write: async (path, bytes) => void disk.write(path, contentOfBytes(bytes.slice())),
      mkdir: async (path) => void disk.mkdir(path),
      symlink: async (path, target) => void disk.symlink(path, target),
      rename: async (from, to) => disk.rename(from, to),
      remove: async (path) => {
        for (const [entry, { type }] of [...disk.entries(path)].reverse()) {
          if (type === 'directory') disk.rmdir(entry);
          else disk.unlink(entry);
        }
      },
      look: async (path) => {
        const inode = disk.at(path);
        return inode && found(inode);
      },
    },
    identify: (bytes) => {
      const { id, blocks } = contentOfBytes(bytes);
      return { content: id, ...(blocks && { blocks }) };
    },
    tick: () => scheduler.pause(10),
    close: async () => {
      closed = true;
    },
  };
}

function found(inode: Inode) {
  const common = { mode: inode.mode, mtimeUs: Math.round(inode.mtimeMs * 1_000) };
  if (inode.type === 'symlink') return { type: 'symlink', target: inode.target ?? '', ...common } as const;
  if (inode.type === 'directory') return { type: 'directory', ...common } as const;
  return { type: 'file', bytes: bytesOfContent(inode.content), ...common } as const;
}

/** Only the first bytes of a large block are real: the others are filled with the last of these. */
function bytesOfContent(content: Content | undefined): Uint8Array {
  if (content === undefined) return new Uint8Array();
  const bytes = new Uint8Array(content.size);
  for (const [index, part] of content.parts.entries()) {
    bytes.fill(part.at(-1) ?? 0, index * blockBytes, (index + 1) * blockBytes);
    bytes.set(part, index * blockBytes);
  }
  return bytes;
}

folderContract(async () => openSimSubject());

describe('beyond the contract', () => {
  test('[PC1] no sync counts while a directory with a new name cannot be opened', async () => {
    const subject = openSimSubject({ canSyncFileSystem: false });
    const { disk } = subject.volume;
    disk.mkdir('d');
    disk.write('d/file', contentOfText('text'));
    disk.chmod('d', 0o300);
    expect(await subject.folder.sync(['d/file'])).toMatchObject({ result: 'not-done' });
    disk.chmod('d', 0o700);
    expect(await subject.folder.sync(['d/file'])).toMatchObject({ result: 'done', hidden: [] });
    await subject.close();
  });

  test('content above the inline limit is identified by the first bytes of each block, and is sent in blocks', async () => {
    const subject = openSimSubject();
    const content = virtualContent('v1', 3 * 1_048_576 + 17);
    subject.volume.disk.write('large', content);
    const { id, blocks, size } = content;
    const fingerprint = await fingerprintAt(subject, 'large');
    const source = { from: 'file', path: 'large', fingerprint } as const;
    for (let index = 0; index < 4; index++) {
      const bytes = await subject.folder.readBlock({ content: id, blocks, size, index, source });
      if (bytes === undefined) throw new Error('no block');
      expect(bytes.length).toBe(index < 3 ? blockBytes : 17);
      expect(await subject.folder.stageBlock({ content: id, blocks, size, index, bytes })).toBe('ok');
    }
    const write = writeRequest(subject, 'copy', '', { content: id, blocks, size, source: { from: 'staged' } });
    expect((await doOne(subject, write)).size).toBe(size);
    expect(subject.volume.disk.at('copy')?.content?.id).toBe(id);
    await subject.close();
  });

  test('[MT4] a crash between two steps leaves the old file or the new one, and history', async () => {
    for (let effects = 0; effects < 30; effects++) {
      const subject = openSimSubject();
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      const keep = contentOfBytes(bytesOf('old')).id;
      subject.life.crashAfterEffects(effects);
      const request = writeRequest(subject, 'file', 'new', { expected, keep });
      const settled = subject.folder.apply([request]).then(() => 'settled');
      const outcome = await Promise.race([settled, subject.crashed]);
      expect(outcome).toBe(subject.life.alive ? 'settled' : 'crashed');
      const next = subject.reopen();
      const seen = await next.observe([{ path: 'file' }]);
      expect(['old', 'new']).toContain(new TextDecoder().decode(seen[0]?.state === 'file' ? seen[0].bytes : undefined));
      if (seen[0]?.state === 'file' && seen[0].content !== keep) {
        expect(await next.inHistory([keep])).toEqual(new Set([keep]));
      }
      await subject.close();
    }
  });

  test('a step of file times hides no change: a file written within it is racy', async () => {
    const subject = openSimSubject();
    subject.volume.disk.write('file', contentOfBytes(bytesOf('one')));
    const [seen] = await subject.folder.observe([{ path: 'file' }]);
    expect(seen).toMatchObject({ state: 'file', racy: true });
    await subject.close();
  });

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

  test('[MT30] an entry of another disk with the same inode number is another entry', async () => {
    const subject = openSimSubject();
    const { disk } = subject.volume;
    const root = disk.newDevice();
    disk.mkdir('disk');
    disk.mount('disk', root);
    await subject.folder.acceptMount('disk');
    const { number } = disk.write('file', contentOfText('old'));
    root.device.lastNumber = number - 1;
    expect(disk.write('disk/file', contentOfText('moved')).number).toBe(number);
    const [expectedFrom, expected] = [await fingerprintAt(subject, 'disk/file'), await fingerprintAt(subject, 'file')];
    const rename = { do: 'rename', from: 'disk/file', to: 'file', expectedFrom, expected } as const;
    expect(await tryOne(subject, rename)).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
    expect(textOf(await subject.user.look('file'))).toBe('old');
    expect(textOf(await subject.user.look('disk/file'))).toBe('moved');
    await subject.close();
  });

  test('[MT7] a failing call leaves either the old entry or the new one', async () => {
    for (let call = 1; call < 60; call++) {
      const subject = openSimSubject();
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      const keep = contentOfBytes(bytesOf('old')).id;
      subject.beforeCall(call, () => {
        subject.volume.failures = { code: 'EIO', chance: 1 };
        subject.beforeCall(1, () => {
          subject.volume.failures = undefined;
        });
      });
      const result = await tryOne(subject, writeRequest(subject, 'file', 'new', { expected, keep }));
      subject.volume.failures = undefined;
      const text = textOf(await subject.user.look('file'));
      expect(['old', 'new']).toContain(text);
      if (result.result === 'done') expect(text).toBe('new');
      await subject.close();
    }
  });

  test('[CT29] a disk that refuses a piece of a staged content is a problem of its path, and the content can be staged again', async () => {
    const subject = openSimSubject();
    const file = virtualContent('v1', 4 * blockBytes);
    const { id, blocks, size } = file;
    const source = { from: 'staged' } as const;
    const expected = 'absent';
    const action = { do: 'write', path: 'file', content: id, size, mode: 0o644, mtimeUs: 0, source, expected } as const;
    const stage = (index: number) =>
      subject.folder.stageBlock({ content: id, blocks, size, index, bytes: blockOf(file, index) });
    expect(await Promise.all([stage(0), stage(1)])).toEqual(['ok', 'ok']);
    subject.volume.failures = { code: 'EIO', chance: 1 };
    await new Promise<void>((resolve) => subject.beforeCall(1, resolve));
    subject.volume.failures = undefined;
    expect(await Promise.all([stage(2), stage(3)])).toEqual(['ok', 'ok']);
    expect(await tryOne(subject, action)).toMatchObject({ result: 'problem', detail: expect.stringContaining('EIO') });
    expect(await subject.folder.stagedBlocks({ content: id, blocks, size })).toEqual([]);
    expect(await Promise.all([0, 1, 2, 3].map(stage))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(await tryOne(subject, action)).toMatchObject({ result: 'done' });
    await subject.close();
  });
});
