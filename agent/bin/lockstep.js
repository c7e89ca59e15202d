#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4
// An agent lives for months and allocates in bursts, and memory that was used once stays resident: of V8's young generation (4 MiB instead of
// 16, twice), and of glibc's arenas (2 instead of 8 for each core; 12 MiB less with 10,000 files).
import { existsSync } from 'node:fs';

const main = new URL('../bundle/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href).catch((error) => {
    if (error.name !== 'InstallationError') throw error;
    console.error(`lockstep: ${error.message}`);
    process.exitCode = 1;
  });
} else {
  console.error('lockstep: this clone has not been built yet. Run `npm run setup` in it.');
  process.exitCode = 1;
}
