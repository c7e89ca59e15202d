import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The dashboard of the lab's first member: `npm start` beside `npx vite` gives a page that reloads as it is edited. */
const agent = 'http://127.0.0.1:4800';

/** Puts `x.js.br` and `x.js.gz` beside every `x.js`, and so for styles: the agent sends what the browser takes, and compresses nothing. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const names = await readdir(dir, { recursive: true });
      for (const path of names.filter((name) => /\.(js|css|svg)$/.test(name)).map((name) => join(dir, name))) {
        const bytes = await readFile(path);
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes));
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), precompress()],
  build: {
    // The agent's content security policy allows no inline script, and files with a hash in their name are kept for ever.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2022',
    // Browsers that know light-dark(): lowered, it would not follow the switch between the colour schemes.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  },
  server: { proxy: { '/api': { target: agent, ws: true } } },
});
