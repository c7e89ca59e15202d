#!/usr/bin/env -S node --max-semi-space-size=4
// A young generation of 4 MiB: an agent lives for months and allocates in bursts, and V8's 16 MiB would stay resident, twice.
import { existsSync } from 'node:fs';

const main = new URL('../bundle/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  console.error('lockstep: this clone has not been built yet. Run `npm run setup` in it.');
  process.exitCode = 1;
}
