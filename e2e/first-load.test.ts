import { expect, test } from './test.ts';

test.use({ names: ['ant'] });

test('[DB-A8] the first load is under 250 kB compressed, and is kept', async ({ page, cluster, pageErrors }) => {
  const ant = cluster.member('ant');
  const loaded = new Set<string>();
  page.on('request', (request) => {
    if (['script', 'stylesheet'].includes(request.resourceType())) loaded.add(request.url());
  });
  // The other views are loaded afterwards, while the browser is idle.
  await page.addInitScript(() => {
    window.requestIdleCallback = () => 0;
  });
  await page.goto(ant.url);
  await expect(page.getByRole('row').filter({ hasText: 'ant' })).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect([...loaded].filter((url) => url.endsWith('.js')).length).toBeGreaterThan(1);
  expect([...loaded].filter((url) => url.endsWith('.css')).length).toBeGreaterThan(0);

  const sizes: { file: string; gzip: number; br: number }[] = [];
  for (const url of loaded) {
    const bytesAs = async (encoding: string): Promise<number> => {
      const answer = await page.request.fetch(url, { headers: { 'accept-encoding': encoding }, method: 'HEAD' });
      const headers = answer.headers();
      expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
      if (url.includes('/assets/')) expect(headers['cache-control']).toContain('immutable');
      return Number(headers['content-length']);
    };
    sizes.push({ file: new URL(url).pathname, gzip: await bytesAs('gzip'), br: await bytesAs('br') });
  }
  const gzip = sizes.reduce((sum, size) => sum + size.gzip, 0);
  const br = sizes.reduce((sum, size) => sum + size.br, 0);
  const measured = `${sizes.length} files: ${(gzip / 1_000).toFixed(1)} kB as gzip, ${(br / 1_000).toFixed(1)} kB as br`;
  test.info().annotations.push({ type: 'measured', description: measured });
  process.stdout.write(`    ${measured}\n`);
  expect(gzip).toBeLessThan(250_000);
  expect(pageErrors).toEqual([]);
});
