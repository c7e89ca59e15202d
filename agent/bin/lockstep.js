#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  console.error('lockstep: this clone has not been built yet. Run `npm run setup` in it.');
  process.exitCode = 1;
}
