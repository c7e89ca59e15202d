import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../agent/dist/show/main.js', import.meta.url));

/** Serves the page over the made-up cluster of fifty (`npm run show`) until it is stopped. */
export async function startMadeUp(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const child = spawn(process.execPath, [program, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) return { url, stop: () => child.kill() };
  }
  throw new Error('the made-up cluster ended before it served the page');
}
