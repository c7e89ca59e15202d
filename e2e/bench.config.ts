import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

/** The page's part of `npm run bench`: figures of real agents and a real browser. Not a test: nothing is compared. */
export default defineConfig(base, {
  testDir: 'bench',
  testMatch: 'page.ts',
  timeout: 900_000,
  reporter: 'line',
  // The trace for failed tests is recorded in the page, at a high cost.
  use: { trace: 'off' },
});
