import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../agent/dist/sim/live/main.js', import.meta.url));

/** Serves the page over fifty simulated members (`npm run show`) until it is stopped. */
export async function startOffice(): Promise<{
  readonly url: string;
  readonly link: string;
  readonly stop: () => void;
}> {
  const child = spawn(process.execPath, [program, '--port', '0', '--stop-with-input'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const [link] = /http:\S+/.exec(line) ?? [];
    if (link !== undefined) return { url: new URL('/', link).href, link, stop: () => child.kill() };
  }
  throw new Error('the simulated office ended before it served the page');
}
