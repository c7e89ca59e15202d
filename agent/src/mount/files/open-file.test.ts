import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MountedFolder } from '../_mounted.ts';
import { MountError } from '../errno.ts';
import { FolderAccess } from '../folder/folder-access.ts';
import type { Draft, OpenVersion } from '../ports/access.ts';
import { OpenFile, OpenHandle } from './open-file.ts';

/** The largest offset that has room on the disk of these tests. */
const roomBytes = 10;

/** The folder on a disk that is full after some bytes of each draft. */
class FullFolder extends FolderAccess {
  override async draft(path: string, from: OpenVersion | undefined, mode: number): Promise<Draft> {
    const draft = await super.draft(path, from, mode);
    const write = draft.write.bind(draft);
    draft.write = (bytes, offset) => {
      if (offset + bytes.length > roomBytes) throw new MountError('ENOSPC');
      return write(bytes, offset);
    };
    return draft;
  }
}

let mounted: MountedFolder;
let access: FullFolder;
beforeEach(() => {
  mounted = new MountedFolder();
  let drafts = 0;
  const newPath = (): string => `${mounted.drafts}/full-${++drafts}`;
  access = new FullFolder(mounted.folder, { folder: mounted.folder, member: 'ant', newPath, nowMs: Date.now });
});
afterEach(() => mounted.remove());

describe('[FM2] a write that fails', () => {
  const bytes = Buffer.from('123456');

  test('lets close and fsync fail, and publishes nothing', async () => {
    writeFileSync(mounted.at('a'), 'before');
    const file = await OpenFile.existing({ access, onConflict: () => undefined }, 'a');
    const by = new OpenHandle(file);
    await file.write(bytes, 0, by);
    await expect((async () => file.write(bytes, 6, by))()).rejects.toThrow('ENOSPC');
    await expect(file.flush()).rejects.toThrow('ENOSPC');
    await expect(file.publish(true)).rejects.toThrow('ENOSPC');
    await file.close();
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('before');
    expect(readdirSync(mounted.drafts)).toEqual([]);
  });

  test('counts also if it was refused before it got to the draft, behind one that still runs', async () => {
    writeFileSync(mounted.at('a'), 'before');
    const file = await OpenFile.existing({ access, onConflict: () => undefined }, 'a');
    const running = file.write(bytes, 0, new OpenHandle(file));
    await expect((async () => file.refuse(new MountError('EIO')))()).rejects.toThrow('EIO');
    await running;
    await expect(file.publish(true)).rejects.toThrow('EIO');
    await file.close();
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('before');
  });

  test('does not matter once the program has gone on', async () => {
    const file = await OpenFile.created({ access, onConflict: () => undefined }, 'a', 0o644);
    const by = new OpenHandle(file);
    await file.write(bytes, 0, by);
    await expect((async () => file.write(bytes, 6, by))()).rejects.toThrow('ENOSPC');
    await file.truncate(4);
    await file.flush();
    await file.close();
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('1234');
  });
});
