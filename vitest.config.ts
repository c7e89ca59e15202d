import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const source = (path: string): string => fileURLToPath(new URL(`./shared/src/${path}`, import.meta.url));

const alias = [
  { find: '@lockstep/shared/api', replacement: source('api.ts') },
  { find: '@lockstep/shared/present', replacement: source('present.ts') },
  { find: '@lockstep/shared', replacement: source('index.ts') },
];

/** The tests that take half a minute and more in a whole run, the longest first. */
const long = [
  'members',
  'damaged-state',
  'mount-on-demand',
  'lost-content',
  'on-demand',
  'roots',
  'doctor',
  'on-demand-cache',
  'mounts',
  'cli',
  'notices',
  'copies',
  'entries',
  'prefetch',
  'set-back',
  'crashes',
  'problems',
  'full-disk',
  'versions',
  'may-be-away',
  'ignore-file',
  'limits',
  'programs',
  'churn',
  'mount',
  'files',
  'bit-rot',
  'quota',
  'traceless',
  'extremes',
  'removed-state',
  'resolve',
  'bad-folder',
  'health',
  'conflicts',
  'several-sources',
  'slow-link',
  'failing-sessions',
  'lab',
  'progress',
  'saturated-link',
];

/** The long files begin first, so that none of them is left alone in the end. Vitest knows how long each was, but not in a fresh clone. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = long.indexOf(basename(moduleId, '.test.ts'));
      return index < 0 ? long.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** How long a test waits for a condition: a machine that is busy with other tests takes its time. */
const patienceMs = 20_000;

/** How often a test asks agents for a condition: they need the processor, too. */
const askIntervalMs = 150;

/**
 * `integration` and `monitoring` start real agents from agent/dist: build first (npm test does). `package` makes the package and
 * installs it. `compose` works with containers and needs the image (npm run test:compose makes it).
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: [
            '{agent,shared,dashboard}/src/**/*.test.{ts,tsx}',
            '{drills,testkit}/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          setupFiles: 'testkit/vitest/bounded-properties.ts',
          // Ten times what the longest needs on a quiet machine: machines were seen where each took six times as long as here.
          testTimeout: 120_000,
          hookTimeout: 30_000,
          // Each file would load the same modules again, which takes as long as the tests: none of them changes a module or a global.
          isolate: false,
          // Vitest leaves one core to itself, so that two cores would run one file at a time; much of the time a file waits for the disk.
          maxWorkers: Math.max(3, availableParallelism() - 1),
          expect: { poll: { timeout: patienceMs } },
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          // No `exclude` here: with one, vitest would not see what the command line excludes.
          include: ['agent/test/*.test.ts'],
          // Longer than several waits for a cluster: the one that fails says for what.
          testTimeout: 300_000,
          hookTimeout: 180_000,
          // None of them changes a module or a global. A process for each would begin later, and take the processor for that.
          isolate: false,
          // Most of the time each of them waits for one agent or another.
          maxWorkers: 4,
          expect: { poll: { timeout: patienceMs, interval: askIntervalMs } },
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'package',
          include: ['agent/test/packaged/**/*.test.ts'],
          globalSetup: 'agent/test/packaged/install.ts',
          // Longer than several waits for an installed agent: the one that fails says for what.
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'monitoring',
          include: ['monitoring/test/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'compose',
          include: ['agent/test/compose/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          // The one pool whose workers may act as another user.
          pool: 'forks',
        },
      },
    ],
  },
});
