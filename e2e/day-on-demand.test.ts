import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { appendFile, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nameOf, parentOf } from '@lockstep/shared';
import { pathReportSchema } from '@lockstep/shared/api';
import type { Page } from '@playwright/test';
import { eventually } from '../testkit/eventually.ts';
import { allCopied } from '../testkit/level.ts';
import { lockstep, type Member } from '../testkit/member.ts';
import { mountAt, mountLacks, unmount } from '../testkit/mount.ts';
import { test as base, expect } from './test.ts';
import { drop, uploads } from './uploading.ts';

const shelves = 15;
const boxesOfShelf = 20;
const notesOfBox = 100;
const notes = shelves * boxesOfShelf * notesOfBox;

const film = 'films/holiday.mkv';
const filmBytes = 100_000_000;
const middle = filmBytes / 2;
const mebibyte = 1_048_576;

/** The mount of a member until the end of the test; `undefined` where nothing can be mounted. */
const test = base.extend<{ readonly mountOf: (member: Member) => Promise<string | undefined> }>({
  mountOf: async ({ cluster }, use, info) => {
    if (mountLacks !== undefined) info.annotations.push({ type: 'left out', description: mountLacks });
    const mounted: Awaited<ReturnType<typeof mountAt>>[] = [];
    await use(async (member) => {
      if (mountLacks !== undefined) return undefined;
      const point = join(cluster.root, `mount-of-${member.name}`);
      await mkdir(point);
      mounted.push(await mountAt(point, member));
      return point;
    });
    for (const each of mounted) await unmount(each);
  },
});

test.use({
  proxied: true,
  // Room for everything: no file leaves a disk.
  start: { env: { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '64 GiB' } },
});

/** Numbered so that the first ones are in sight where a directory is listed. */
const note = (shelf: number, box: number, index: number): string =>
  `notes/shelf-${shelf}/box-${box}/note-${String(index).padStart(2, '0')}.txt`;

/** Writes the notes into the member's folder, each with other bytes. */
function writeNotes(member: Member): void {
  for (let shelf = 0; shelf < shelves; shelf++) {
    for (let box = 0; box < boxesOfShelf; box++) {
      mkdirSync(member.path(parentOf(note(shelf, box, 0))), { recursive: true });
      for (let index = 0; index < notesOfBox; index++) {
        const path = note(shelf, box, index);
        writeFileSync(member.path(path), `${path}\n${randomBytes(300).toString('base64')}\n`);
      }
    }
  }
}

const report = async (member: Member, path: string) => pathReportSchema.parse(await member.get(`/paths/${path}`));

/**
 * Puts a film into the member's folder that the member itself is to keep, so that one of the other two lacks it: the places of the copies
 * follow from the bytes. Each film that was tried has a name of its own: a member that begins to fetch one goes on to the next at the same
 * name, and then has it without having to.
 */
async function putFilm(writer: Member): Promise<Buffer> {
  await mkdir(writer.path(parentOf(film)));
  for (let attempt = 1; ; attempt++) {
    const tried = `${film}.${attempt}`;
    const bytes = randomBytes(filmBytes);
    await writer.put(tried, bytes);
    const { copies } = await eventually(async () => {
      const made = await report(writer, tried);
      expect(made.heads[0]?.size).toBe(filmBytes);
      return made;
    });
    if (copies?.placedOn.includes(writer.name)) {
      await rename(writer.path(tried), writer.path(film));
      await eventually(async () => expect((await report(writer, film)).heads).toHaveLength(1));
      return bytes;
    }
    await rm(writer.path(tried));
  }
}

/** The notes on the member's disk. */
const notesOn = (member: Member): readonly string[] =>
  readdirSync(member.path('notes'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.txt'))
    .map((path) => `notes/${path}`);

/** The notes of which there are not two copies. */
function notesWithFewCopies(members: readonly Member[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of members.flatMap(notesOn)) counts.set(path, (counts.get(path) ?? 0) + 1);
  expect(counts.size).toBe(notes);
  return [...counts].filter(([, count]) => count < 2).map(([path]) => path);
}

/** A note of the shelf that is not on the member's disk. */
function noteElsewhere(member: Member, shelf: number): string {
  const here = new Set(notesOn(member));
  const all = Array.from({ length: notesOfBox }, (_, index) => note(shelf, 7, index));
  const path = all.find((each) => !here.has(each));
  if (path === undefined) throw new Error(`${member.name} has all notes of a box`);
  return path;
}

const textAt = async (member: Member, path: string): Promise<string> =>
  (await member.fetch(`api/v1/files/${path}`)).text();

/** Asks for a mebibyte of the film, as a player would that is served by the page's agent. */
function readFromPage(page: Page, start: number) {
  return page.evaluate(
    async ({ url, range }) => {
      const answer = await fetch(url, { headers: { range } });
      // In slices: a call takes only so many arguments.
      const bytes = new Uint8Array(await answer.arrayBuffer());
      let text = '';
      for (let at = 0; at < bytes.length; at += 10_000) text += String.fromCharCode(...bytes.subarray(at, at + 10_000));
      return { status: answer.status, range: answer.headers.get('content-range'), base64: btoa(text) };
    },
    { url: `/api/v1/files/${film}`, range: `bytes=${start}-${start + mebibyte - 1}` },
  );
}

/** The bytes of an open file from `start` to `end`. */
async function readOpen(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(mebibyte, bytes.length - at), start + at);
    if (bytesRead === 0) throw new Error(`the file ends at ${start + at}`);
    at += bytesRead;
  }
  return bytes;
}

/** Appends to a file: as a program does in the mount at `point`, or by URL where there is no mount. */
async function append(member: Member, point: string | undefined, path: string, more: string): Promise<void> {
  if (point !== undefined) return appendFile(join(point, path), more);
  const now = await member.fetch(`api/v1/files/${path}`);
  const headers = { 'if-match': now.headers.get('etag') ?? '' };
  const body = (await now.text()) + more;
  expect((await member.fetch(`api/v1/files/${path}`, { method: 'PUT', body, headers })).status).toBe(200);
}

const sentBy = (member: Member) => member.metric('lockstep_peer_sent_bytes_total');

test('[CP2] [CP3] [OD2] [OD12] a day with 30,000 files on three members on demand, with two copies of each', async ({
  page,
  cluster,
  mountOf,
  pageErrors,
}) => {
  test.slow();
  const { members } = cluster;
  const ant = cluster.member('ant');

  const bytes = await test.step('a film and 30,000 notes are dropped into the folder of one', async () => {
    expect((await lockstep(['copies', '2', '--dir', ant.folder])).code).toBe(0);
    await allCopied(members);
    const made = await putFilm(ant);
    writeNotes(ant);
    return made;
  });
  const isRight = (read: Uint8Array, start: number): boolean => bytes.subarray(start, start + read.length).equals(read);

  await test.step('two members have each of them', async () => {
    await allCopied(members, 240_000);
    await expect.poll(() => notesWithFewCopies(members)).toEqual([]);
  });

  const { placedOn = [] } = (await report(ant, film)).copies ?? {};
  const keepers = placedOn.map((name) => cluster.member(name));
  const [reader] = members.filter((member) => !keepers.includes(member));
  if (reader === undefined) throw new Error('no member lacks the film');
  const about = (path: string) => page.getByRole('region', { name: `About ${path}`, exact: true });

  await test.step('a user browses on the member that lacks a third of them, and opens a note', async () => {
    const path = noteElsewhere(reader, 0);
    await page.goto(`${reader.url}files`);
    for (const name of path.split('/')) await page.getByRole('link', { name, exact: true }).click();
    await expect(
      page.getByRole('row').filter({ has: page.getByRole('link', { name: nameOf(path), exact: true }) }),
    ).toContainText('on demand');
    await expect(about(path).getByRole('heading', { name: 'Held by 2 members' })).toBeVisible();
    const own = about(path).getByRole('listitem').filter({ hasText: reader.name }).first();
    await expect(own).toContainText('if read');
    const opening = page.context().waitForEvent('page');
    await about(path).getByRole('link', { name: 'Open' }).click();
    const opened = await opening;
    await expect(opened.locator('body')).toContainText(path);
    await opened.close();
  });

  await test.step('a note is edited and saved on the page, and the others have it', async () => {
    const path = noteElsewhere(reader, 1);
    await page.goto(`${reader.url}files/${parentOf(path)}`);
    await expect(page.getByRole('link', { name: nameOf(path), exact: true })).toBeVisible();
    await drop(page, 'table', { [nameOf(path)]: 'edited on the page\n' });
    await uploads(page).getByRole('button', { name: 'Replace it' }).click();
    for (const member of keepers) await expect.poll(() => textAt(member, path)).toBe('edited on the page\n');
    const onBoth = '1 file in notes/shelf-1/box-7 is on the 2 members that are to keep it.';
    await expect(uploads(page).getByRole('status')).toHaveText(onBoth);
  });

  await page.goto(`${reader.url}files/${film}`);
  await expect(about(film).getByRole('heading', { name: 'Held by 2 members' })).toBeVisible();
  // So that it is seen that no read waits for the whole film, and that a member is killed before it has sent all.
  cluster.shapes(reader.name, { bytesPerSecond: 1_000_000 });
  const before = await Promise.all(keepers.map(sentBy));
  /** How much of the film each of its keepers has sent. */
  const filmSent = async (): Promise<readonly number[]> =>
    (await Promise.all(keepers.map(sentBy))).map((sent, index) => sent - (before[index] ?? 0));
  const filmHere = async (): Promise<number> => (await filmSent()).reduce((sum, sent) => sum + sent, 0);

  await test.step('the film opens at its middle, before the rest of it has come', async () => {
    const { status, range, base64 } = await readFromPage(page, middle);
    expect([status, range]).toEqual([206, `bytes ${middle}-${middle + mebibyte - 1}/${filmBytes}`]);
    const part = Buffer.from(base64, 'base64');
    expect(part).toHaveLength(mebibyte);
    expect(isRight(part, middle)).toBe(true);
    expect(await filmHere()).toBeLessThan(middle);
  });

  const point = await mountOf(reader);
  const player = point === undefined ? undefined : await open(join(point, film));
  const [first, second] = keepers;
  if (first === undefined || second === undefined) throw new Error('two members keep the film');
  const killed =
    await test.step('it is read on to its end while the member that sent most of it is killed', async () => {
      const { body } = await reader.fetch(`api/v1/files/${film}`);
      if (body === null) throw new Error('the answer has no body');
      const reading = body.getReader();
      const parts = [(await reading.read()).value ?? new Uint8Array()];
      if (player) expect(isRight(await readOpen(player, middle, middle + 2 * mebibyte), middle)).toBe(true);

      const [byFirst = 0, bySecond = 0] = await filmSent();
      expect(byFirst + bySecond).toBeLessThan(filmBytes);
      const most = byFirst > bySecond ? first : second;
      await most.kill();
      cluster.shapes(reader.name, {});
      for (let part = await reading.read(); !part.done; part = await reading.read()) parts.push(part.value);
      const whole = Buffer.concat(parts);
      expect(whole).toHaveLength(filmBytes);
      expect(isRight(whole, 0)).toBe(true);
      if (player) expect(isRight(await readOpen(player, middle, filmBytes), middle)).toBe(true);
      await player?.close();
      return most;
    });

  await test.step('the lost member comes back with what was edited meanwhile, and all is level', async () => {
    const path = noteElsewhere(reader, 2);
    const edited = `${await textAt(killed === first ? second : first, path)}more\n`;
    await append(reader, point, path, 'more\n');
    await killed.start();
    await expect.poll(() => textAt(killed, path)).toBe(edited);
    await allCopied(members);
    await expect.poll(() => notesWithFewCopies(members)).toEqual([]);
    await page.goto(`${reader.url}files/${film}`);
    await expect(about(film).getByRole('heading', { name: 'Held by 3 members' })).toBeVisible();
  });
  // The browser reports the answer that a name is taken.
  expect(pageErrors.filter((said) => !said.includes('412'))).toEqual([]);
});
