// `npm run screenshots`: sets up, then takes the pictures in docs/screenshots.
import { ensureBrowser } from './lib/browser.mjs';
import { runTool } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  const { code } = await runTool('playwright', ['test', '--config', 'e2e/screenshots.config.ts', ...args], {
    env: { LOCKSTEP_CHROMIUM: await ensureBrowser() },
  });
  return code;
});
