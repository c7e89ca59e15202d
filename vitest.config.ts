import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`./shared/src/${path}`, import.meta.url));

const alias = [
  { find: '@lockstep/shared/api', replacement: source('api.ts') },
  { find: '@lockstep/shared', replacement: source('index.ts') },
];

/** `integration` starts real agents from agent/dist: build first (npm test does). */
export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['{agent,shared,dashboard}/src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          include: ['agent/test/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
