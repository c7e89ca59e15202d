import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const compiled = (path: string): string => fileURLToPath(new URL(`./dist/${path}`, import.meta.url));

/**
 * Writes characters beyond ASCII as escapes, in UTF-16 as V8 keeps them. It keeps the source of a file in memory, and with one character
 * beyond Latin-1 in it all of them take two bytes: 4 MiB more for each agent.
 */
const escaped: Plugin = {
  name: 'escaped',
  // At the very end: a later transformation would print the characters themselves again.
  generateBundle: (_options, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/**
 * Packages that are in our dependencies for uses other than ours, and are never called: fastify's compilers of JSON Schema (it is given those
 * of zod), its injected requests (for tests), and the listing of a folder of static files. 730 kB, of which V8 keeps the source in
 * memory: 2 MiB less for each agent.
 */
const uncalled = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request', 'glob'];

const leaveOutUncalled: Plugin = {
  name: 'leave-out-uncalled',
  enforce: 'pre',
  resolveId: (id) => (uncalled.includes(id) ? `\0uncalled:${id}` : undefined),
  load: (id) =>
    id.startsWith('\0uncalled:')
      ? `module.exports = () => { throw new Error('${id.slice('\0uncalled:'.length)} is not part of the agent') };`
      : undefined,
};

/**
 * Bundles the compiled program with its dependencies into `bundle/`: Node would otherwise find and read some 1,500 files at each start, which
 * takes half of the time until a member is ready. Packages with native code stay outside.
 */
export default defineConfig({
  plugins: [leaveOutUncalled, escaped],
  ssr: {
    target: 'node',
    noExternal: true,
    external: [
      '@cocalc/fuse-native',
      '@napi-rs/blake-hash',
      'better-sqlite3',
      'better-sqlite3-node20',
      'msgpackr-extract',
    ],
  },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'bundle',
    license: { fileName: 'LICENSES.md' },
    rolldownOptions: {
      input: { main: compiled('cli/main.js'), worker: compiled('fs/worker/worker.js') },
      // Flat: all modules are one level below agent/, as in dist/.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
});
