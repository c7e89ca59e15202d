import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { errorOf, MountedFolder } from '../_mounted.ts';

let mounted: MountedFolder;
beforeEach(() => {
  mounted = new MountedFolder();
});
afterEach(() => mounted.remove());

describe('[FM11] a program that has a file open sees one version', () => {
  const replace = (text: string): void => {
    writeFileSync(mounted.at('new'), text);
    renameSync(mounted.at('new'), mounted.at('a'));
  };
  /** Opens a file as the kernel does: it asks for the attributes after ESTALE, and tries once more. */
  const open = async (flags = 0): Promise<number> => {
    const error = await errorOf(async () => mounted.handlers.release(await mounted.handlers.open('/a', flags)));
    expect([undefined, 'ESTALE']).toContain(error);
    await mounted.handlers.getattr('/a');
    return mounted.handlers.open('/a', flags);
  };
  beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => vi.useRealTimers());

  test('and so does one that opens it while the first one reads', async () => {
    writeFileSync(mounted.at('a'), 'the first');
    const reader = await open();
    expect(await mounted.read(reader, 0, 2)).toBe('th');
    replace('two');
    expect(mounted.handlers.fgetattr('/a', reader).size).toBe(9);
    expect((await mounted.handlers.getattr('/a')).size).toBe(9);
    const second = await open();
    expect(await mounted.read(second)).toBe('the first');
    expect(await mounted.read(reader, 2)).toBe('e first');
    await mounted.close(reader);
    await mounted.close(second);
    const third = await open();
    expect(await mounted.read(third)).toBe('two');
    await mounted.close(third);
  });

  test.each([
    ['after it has paused', 1_001, 0],
    ['when another one opens the file to write', 0, 2],
  ])('gets ESTALE %s, rather than bytes of another version', async (_, passedMs, flags) => {
    writeFileSync(mounted.at('a'), 'first');
    const reader = await open();
    expect(await mounted.read(reader, 0, 2)).toBe('fi');
    replace('second!');
    expect(await mounted.read(reader, 2)).toBe('rst');
    vi.advanceTimersByTime(passedMs);
    const next = await open(flags);
    expect(await errorOf(() => mounted.read(reader, 2))).toBe('ESTALE');
    expect(await errorOf(() => mounted.write(reader, 'xy'))).toBe('ESTALE');
    expect(await errorOf(() => mounted.handlers.ftruncate(reader, 1))).toBe('ESTALE');
    expect(await mounted.read(next)).toBe('second!');
    await mounted.close(reader);
    await mounted.close(next);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('second!');
  });

  test('gets no other version at the places after those that it wrote', async () => {
    const writer = await mounted.handlers.create('/a', 0o644);
    await mounted.write(writer, 'mine');
    await mounted.handlers.fsync(writer);
    replace('second!');
    const next = await open();
    expect(await errorOf(() => mounted.write(writer, 'more', 4))).toBe('ESTALE');
    await mounted.close(writer);
    await mounted.close(next);
  });

  test('reads beyond a size that the kernel was told before', async () => {
    writeFileSync(mounted.at('a'), 'first');
    await mounted.handlers.getattr('/a');
    replace('the second');
    expect(await errorOf(() => mounted.handlers.open('/a', 0))).toBe('ESTALE');
    // The version stays until the kernel has opened the file once more.
    replace('the third one');
    expect((await mounted.handlers.getattr('/a')).size).toBe(10);
    const reader = await mounted.handlers.open('/a', 0);
    expect(await mounted.read(reader)).toBe('the second');
    await mounted.close(reader);
    expect(mounted.files.at('a')).toBe(undefined);
  });

  test('opens what was just written through the mount at once', async () => {
    const writer = await mounted.handlers.create('/a', 0o644);
    mounted.handlers.fgetattr('/a', writer);
    await mounted.write(writer, 'mine');
    await mounted.close(writer);
    const reader = await mounted.handlers.open('/a', 0);
    expect(await mounted.read(reader)).toBe('mine');
    await mounted.close(reader);
  });
});
