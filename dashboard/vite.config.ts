import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The dashboard of the lab's first member: `npm start` beside `npx vite` gives a page that reloads as it is edited. */
const agent = 'http://127.0.0.1:4800';

export default defineConfig({
  plugins: [react()],
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
