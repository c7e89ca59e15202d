import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

/** The configuration of `npm run screenshots`, which takes the pictures in docs/screenshots. Not a test: nothing is compared. */
export default defineConfig(base, { testDir: 'screenshots', testMatch: 'take.ts', timeout: 600_000 });
