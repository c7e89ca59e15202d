import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { runbookOf } from './src/runbook/runbook.ts';

/**
 * The dashboard of the lab's first member: `npx vite` during `npm start` serves a page that reloads when its source changes. To log in, open
 * the path of a link (`/login?token=…`) there.
 */
const agent = 'http://127.0.0.1:4801';

/** Writes `x.js.br` and `x.js.gz` next to every `x.js`, also for styles and SVG: the agent sends them instead of compressing itself. */
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

/** Makes the entries of the runbook a module, so that the page needs neither the document nor a reader of Markdown. */
function runbook(): Plugin {
  const source = fileURLToPath(new URL('../docs/OPERATIONS.md', import.meta.url));
  return {
    name: 'runbook',
    resolveId: (id) => (id === 'virtual:runbook' ? id : undefined),
    async load(id) {
      if (id !== 'virtual:runbook') return undefined;
      this.addWatchFile(source);
      return `export default ${JSON.stringify(runbookOf(await readFile(source, 'utf8')))}`;
    },
  };
}

export default defineConfig({
  plugins: [react(), runbook(), precompress()],
  build: {
    license: { fileName: 'LICENSES.md' },
    // No inlining: the agent's content security policy allows no inline script, and browsers cache files with a hash in their name.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // One style sheet: a view that is loaded again after a failure would be without a style sheet of its own.
    cssCodeSplit: false,
    target: 'es2022',
    // Browsers that support light-dark(): a fallback for it would not follow the switch between the colour schemes.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  },
  server: { proxy: { '/api': { target: agent, ws: true }, '/login': agent } },
});
