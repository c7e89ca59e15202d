import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const compiled = (path: string): string => fileURLToPath(new URL(`./dist/${path}`, import.meta.url));

/**
 * Bundles the compiled program with its dependencies into `bundle/`: Node would otherwise find and read some 1,500 files at each start, which
 * takes half of the time until a member is ready. Packages with native code stay outside.
 */
export default defineConfig({
  ssr: {
    target: 'node',
    noExternal: true,
    external: ['@cocalc/fuse-native', '@napi-rs/blake-hash', 'better-sqlite3', 'msgpackr-extract'],
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
