import { defineConfig, devices } from '@playwright/test';
import { chromiumArguments, chromiumPath } from './browser.ts';

const executablePath = chromiumPath(process.env);

/** The browser tests. They start real agents in real folders from agent/dist: build first (npm test does). */
export default defineConfig({
  testDir: '.',
  // Each test starts several agents, and waits for them half of its time.
  workers: 2,
  // Longer than several waits of `expect`, on a machine that is busy with other tests: the one that fails says for what.
  timeout: 180_000,
  // A member that was killed is down after 10 s. A chart may be 20 s old, also on a machine that is not busy.
  expect: { timeout: 30_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    viewport: { width: 1440, height: 900 },
    // Without the film of the page and the document of each step, which both take a tenth of the processor time of a test. With them:
    // --trace on.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false },
    launchOptions: {
      args: chromiumArguments(),
      ...(executablePath === undefined ? {} : { executablePath }),
    },
  },
});
