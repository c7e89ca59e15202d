import { describe, expect, test } from 'vitest';
import { folderContract } from '../fs/folder.contract.ts';
import { bytesOf, doOne, type FolderSubject, fingerprintAt, writeRequest } from '../fs/folder-subject.contract.ts';
import { contentOfBytes, virtualContent } from './content.ts';
import type { Inode } from './disk.ts';
import { Life } from './life.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { WallClock } from './sim-clock.ts';
import { SimFolder } from './sim-folder.ts';
import { Volume } from './volume.ts';

interface SimSubject extends FolderSubject {
  readonly volume: Volume;
  readonly life: Life;
  readonly scheduler: Scheduler;
  readonly crashed: Promise<'crashed'>;
  /** A new agent on the same volume. */
  reopen(): SimFolder;
}

/** Runs virtual time in the background while the test awaits what needs it. */
function openSimSubject(): SimSubject {
  const random = new Random(7);
  const scheduler = new Scheduler(random.fork());
  const wall = new WallClock(scheduler, 0);
  const volume = new Volume(() => wall.preciseMs());
  const { disk } = volume;
  let closed = false;
  const openFolder = (life: Life) =>
    new SimFolder({
      volume,
      scheduler,
      random: random.fork(),
      life,
      wallMs: () => wall.preciseMs(),
      watch: { delayMsMax: 10, overflowChance: 0 },
      callMsMax: 1,
      placed: () => {},
      tell: () => {},
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
    close: async () => {
      closed = true;
    },
  };
}

function found(inode: Inode) {
  const common = { mode: inode.mode, mtimeUs: Math.round(inode.mtimeMs * 1_000) };
  if (inode.type === 'symlink') return { type: 'symlink', target: inode.target ?? '', ...common } as const;
  if (inode.type === 'directory') return { type: 'directory', ...common } as const;
  return { type: 'file', bytes: joined(inode.content?.parts ?? []), ...common } as const;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

folderContract(async () => openSimSubject());

describe('beyond the contract', () => {
  test('content above the inline limit is a few bytes for each block, and travels block by block', async () => {
    const subject = openSimSubject();
    const content = virtualContent('v1', 3 * 1_048_576 + 17);
    subject.volume.disk.write('large', content);
    const { id, blocks, size } = content;
    const fingerprint = await fingerprintAt(subject, 'large');
    const source = { from: 'file', path: 'large', fingerprint } as const;
    for (let index = 0; index < 4; index++) {
      const bytes = await subject.folder.readBlock({ content: id, blocks, size, index, source });
      expect(bytes?.length).toBeLessThan(100);
      if (bytes === undefined) throw new Error('no block');
      expect(await subject.folder.stageBlock({ content: id, blocks, size, index, bytes })).toBe('ok');
    }
    const write = writeRequest(subject, 'copy', '', { content: id, blocks, size, source: { from: 'staged' } });
    expect((await doOne(subject, write)).size).toBe(size);
    expect(subject.volume.disk.at('copy')?.content?.id).toBe(id);
    await subject.close();
  });

  test('[MT4] a crash between two steps leaves the old file or the new one, and history', async () => {
    for (let effects = 0; effects < 8; effects++) {
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

  test('a changed time step hides nothing: a file written within it is racy', async () => {
    const subject = openSimSubject();
    subject.volume.disk.write('file', contentOfBytes(bytesOf('one')));
    const [seen] = await subject.folder.observe([{ path: 'file' }]);
    expect(seen).toMatchObject({ state: 'file', racy: true });
    await subject.close();
  });
});
