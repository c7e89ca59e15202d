import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

/** `npm run screenshots`: the pictures in docs/screenshots, of real agents. Not a test: nothing is compared. */
export default defineConfig(base, { testDir: 'screenshots', testMatch: 'take.ts', timeout: 600_000 });
