import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the browser: the one in LOCKSTEP_CHROMIUM, else a Chromium of this machine, else (undefined) Playwright's own. */
export function chromiumPath(env: NodeJS.ProcessEnv): string | undefined {
  const named = env.LOCKSTEP_CHROMIUM;
  if (named !== undefined && named !== '') return named;
  const places = ['/usr/bin/chromium', ...(env.PATH ?? '').split(delimiter).map((place) => join(place, 'chromium'))];
  return places.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The arguments of the browser. The tests need no graphics processor, and the browser must connect only to the agents. */
export function chromiumArguments(): string[] {
  const always = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  // Chromium's sandbox does not work for root, which runs the tests in a container.
  return process.getuid?.() === 0 ? [...always, '--no-sandbox'] : always;
}

/** The cookie `name=value` of the agent at `url` in the form for a browser. */
export function browserCookie(url: string, cookie: string) {
  const [name = '', value = ''] = cookie.split('=');
  return { name, value, url, httpOnly: true, sameSite: 'Strict' } as const;
}
