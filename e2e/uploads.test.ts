import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';
import { drop, uploads } from './uploading.ts';

test('[DB-F11] [DB-F12] files are dropped onto a directory, until all members have them', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee, cat] = [cluster.member('ant'), cluster.member('bee'), cluster.member('cat')];
  await mkdir(join(bee.folder, 'photos'));
  await bee.put('notes.txt', 'by bee\n');
  await page.goto(`${ant.url}files`);
  for (const name of ['photos', 'notes.txt']) await expect(page.getByRole('link', { name })).toBeVisible();

  await test.step('[DB-F11] they go to the directory of the row, or to the one that is listed', async () => {
    await drop(page, '[data-directory="photos"]', { 'a #1.txt': 'one\n', 'b.txt': 'two\n' });
    await expect(uploads(page).getByRole('status')).toHaveText('2 files in photos are on all 3 members.');
    expect(await cat.text('photos/a #1.txt')).toBe('one\n');
    expect(await cat.text('photos/b.txt')).toBe('two\n');
    await uploads(page).getByRole('button', { name: 'Close' }).click();
    await expect(uploads(page)).toHaveCount(0);
  });

  await test.step('[DB-F12] a name that is taken is left alone until a person says so', async () => {
    await drop(page, 'table', { 'notes.txt': 'by a person\n', 'new.txt': 'new\n' });
    await expect(uploads(page).getByRole('status')).toHaveText('1 file in the folder is on all 3 members. 1 not sent.');
    await expect(uploads(page)).toContainText('This name is taken by another file: notes.txt.');
    await expect.poll(() => ant.text('notes.txt')).toBe('by bee\n');
    await uploads(page).getByRole('button', { name: 'Replace it' }).click();
    await expect(uploads(page).getByRole('status')).toHaveText('2 files in the folder are on all 3 members.');
    expect(await bee.text('notes.txt')).toBe('by a person\n');
    // The version that was replaced can be put back.
    await page.getByRole('link', { name: 'notes.txt' }).click();
    await expect(page.getByRole('region', { name: 'Versions' }).getByRole('listitem')).toHaveCount(2);
  });

  await test.step('[DB-F11] a member that lacks them is named', async () => {
    await cat.stop();
    await page.goto(`${ant.url}files`);
    await drop(page, 'table', { 'late.txt': 'late\n' });
    await expect(uploads(page).getByRole('status')).toHaveText(
      '1 file in the folder is on 2 of 3 members. cat is shut down.',
    );
    await cat.start();
    await expect(uploads(page).getByRole('status')).toHaveText('1 file in the folder is on all 3 members.');
  });
  // The browser reports each answer that refuses something.
  expect(pageErrors.filter((said) => !said.includes('412'))).toEqual([]);
});

test('[DB-F11] a whole folder is picked with the keyboard, and a refused file says why', async ({ page, cluster }) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const picked = join(cluster.root, 'trip');
  await mkdir(join(picked, 'day 1'), { recursive: true });
  for (let index = 0; index < 30; index++) await writeFile(join(picked, 'day 1', `${index}.txt`), `${index}\n`);
  await writeFile(join(picked, 'kept out.tmp'), 'kept out\n');
  await ant.put('.lockstepignore', '*.tmp\n');
  await page.goto(`${ant.url}files`);
  await expect(page.getByRole('link', { name: '.lockstepignore' })).toBeVisible();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload folder' }).focus();
  await page.keyboard.press('Enter');
  await (await choosing).setFiles(picked);
  await expect(uploads(page).getByRole('status')).toHaveText('30 files in the folder are on all 3 members. 1 failed.');
  await expect(uploads(page).getByRole('alert')).toContainText('trip/kept out.tmp is kept out by a rule');
  expect(await readdir(join(bee.folder, 'trip'))).toEqual(['day 1']);
  expect(await bee.text('trip/day 1/29.txt')).toBe('29\n');

  await test.step('it is sent once more when the reason is gone', async () => {
    await ant.put('.lockstepignore', '');
    await expect
      .poll(async () => ((await ant.get('/paths/trip/kept%20out.tmp')) as { ignored: boolean }).ignored)
      .toBe(false);
    await uploads(page).getByRole('button', { name: 'Try again' }).click();
    await expect(uploads(page).getByRole('status')).toHaveText('31 files in the folder are on all 3 members.');
    expect(await bee.text('trip/kept out.tmp')).toBe('kept out\n');
  });
});

test.describe('a large file', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-F11] streams from the browser; one that breaks off leaves nothing, and goes again', async ({
    page,
    cluster,
  }) => {
    test.slow();
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    const film = join(cluster.root, 'film.bin');
    const size = 200_000_000;
    const file = await open(film, 'w');
    for (let index = 0; index < 200; index++) await file.write(Buffer.alloc(1_000_000, index));
    await file.close();
    const staged = () => readdir(join(ant.folder, '.lockstep', 'staging'));
    await page.goto(`${ant.url}files`);
    const pick = async (): Promise<void> => {
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Upload files' }).click();
      await (await choosing).setFiles(film);
    };
    const before = (await ant.usage()).memoryMiB;
    let highest = before;
    // Plays an agent next to a slow line: the file arrives over some time.
    const cdp = await page.context().newCDPSession(page);
    const limit = (uploadThroughput: number) =>
      cdp.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await limit(10_000_000);
    await pick();
    await expect(uploads(page).getByRole('progressbar', { name: 'Bytes sent' })).toBeVisible();
    await expect.poll(async () => (await staged()).length).toBe(1);
    await expect(uploads(page)).toContainText(/[1-9][\d.]* MB of 200 MB/);
    expect(await readdir(ant.folder)).toEqual(['.lockstep']);

    await test.step('[FA6] stopped by the person', async () => {
      await uploads(page).getByRole('button', { name: 'Stop' }).click();
      await expect(uploads(page).getByRole('alert')).toContainText('film.bin: It was stopped.');
      await expect.poll(staged).toEqual([]);
      expect(await readdir(ant.folder)).toEqual(['.lockstep']);
    });

    await test.step('[FA6] broken off by the end of the agent', async () => {
      await uploads(page).getByRole('button', { name: 'Try again' }).click();
      await expect.poll(async () => (await staged()).length).toBe(1);
      await ant.kill();
      await expect(uploads(page).getByRole('alert')).toContainText('The agent does not answer');
      await ant.start();
      expect(await staged()).toEqual([]);
      expect(await readdir(ant.folder)).toEqual(['.lockstep']);
    });

    await test.step('[DB-F11] sent once more, it is on all members', async () => {
      await limit(-1);
      await uploads(page).getByRole('button', { name: 'Try again' }).click();
      const said = uploads(page).getByRole('status');
      await expect(async () => {
        highest = Math.max(highest, (await ant.usage()).memoryMiB);
        await expect(said).toHaveText('1 file in the folder is on all 2 members.', { timeout: 100 });
      }).toPass({ timeout: 150_000 });
      expect((await stat(join(bee.folder, 'film.bin'))).size).toBe(size);
      expect((await readFile(join(bee.folder, 'film.bin'))).equals(await readFile(film))).toBe(true);
      expect(highest - before).toBeLessThan(150);
      await rm(film);
    });
  });
});

test('[DB-F13] a person makes a folder, renames and deletes, and is told before what will happen', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await ant.put('plan.txt', 'plan\n');
  await page.goto(`${ant.url}files`);
  const dialog = page.getByRole('dialog');

  await test.step('a new folder, with the keyboard alone', async () => {
    await page.getByRole('button', { name: 'New folder' }).focus();
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('button', { name: 'Make it' })).toBeDisabled();
    await expect(dialog.getByLabel('Name')).toBeFocused();
    await page.keyboard.type('trips/2026');
    await expect(dialog).toContainText('A name has no slash.');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('trips 2026');
    await page.keyboard.press('Enter');
    await expect(page.getByText('trips 2026 was made.')).toBeVisible();
    await expect
      .poll(async () => (await stat(join(bee.folder, 'trips 2026')).catch(() => undefined))?.isDirectory())
      .toBe(true);
  });

  await test.step('the same name again is refused', async () => {
    await page.getByRole('button', { name: 'New folder' }).click();
    await dialog.getByLabel('Name').fill('plan.txt');
    await dialog.getByRole('button', { name: 'Make it' }).click();
    await expect(alertOf(page, 'plan.txt is there already')).toBeVisible();
  });

  await test.step('a directory is renamed with what is in it', async () => {
    await writeFile(join(bee.folder, 'trips 2026', 'day 1.txt'), 'one\n');
    await writeFile(join(bee.folder, 'trips 2026', 'day 2.txt'), 'two\n');
    await mkdir(join(bee.folder, 'trips 2026', 'photos'));
    await page.getByRole('link', { name: 'trips 2026' }).click();
    await expect(page.getByRole('link', { name: 'day 2.txt' })).toBeVisible();
    // A file that bee is still sending would make the former name again.
    await cluster.settled();
    await page.getByRole('button', { name: 'Rename' }).click();
    await expect(dialog).toContainText('with everything in it, and all members get the new name');
    await dialog.getByLabel('New name').fill('trips');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`${ant.url}files/trips`);
    await expect(page.getByText('trips 2026 was renamed to trips.')).toBeVisible();
    await expect.poll(() => bee.text('trips/day 2.txt')).toBe('two\n');
    await expect.poll(() => readdir(bee.folder)).toEqual(['.lockstep', 'plan.txt', 'trips']);
  });

  await test.step('a deleted directory says before how many files are in it, and can be put back', async () => {
    await page.getByRole('button', { name: 'Delete' }).click();
    await expect(dialog).toContainText('trips, with the 2 files and 1 folder in it, is deleted from the folder of ant');
    await dialog.getByRole('button', { name: 'Do not delete' }).click();
    await expect(dialog).toHaveCount(0);
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await expect(page.getByText('trips was deleted.')).toBeVisible();
    await expect.poll(() => readdir(bee.folder)).toEqual(['.lockstep', 'plan.txt']);
    await page.getByRole('button', { name: /^Put back/ }).click();
    await dialog.getByRole('button', { name: 'Put it back' }).click();
    await expect.poll(() => bee.text('trips/day 1.txt')).toBe('one\n');
  });

  await test.step('what another member changed meanwhile is not deleted', async () => {
    await page.goto(`${ant.url}files/plan.txt`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await expect(dialog).toContainText('plan.txt (5 B) is deleted');
    await page.route('**/api/v1/files/**', async (route) => {
      await bee.put('plan.txt', 'a better plan\n');
      await cluster.settled();
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await expect(alertOf(page, 'plan.txt has changed since it was shown')).toBeVisible();
    expect(await ant.text('plan.txt')).toBe('a better plan\n');
  });
  expect(pageErrors.filter((said) => !said.includes('412'))).toEqual([]);
});
