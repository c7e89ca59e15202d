import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { aptInstall, canUseApt, findProgram, root, runTool, SetupError } from './process.mjs';

/** A download that hangs must not hang the tests. */
const downloadTimeoutMs = 300_000;

function ownOfPlaywright() {
  try {
    const { chromium } = createRequire(join(root, 'e2e', 'package.json'))('@playwright/test');
    const path = chromium.executablePath();
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function findBrowser() {
  const named = process.env.LOCKSTEP_CHROMIUM;
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new SetupError(`LOCKSTEP_CHROMIUM names ${named}, which does not exist. Correct or unset it.`);
  }
  return (
    findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome') ?? ownOfPlaywright()
  );
}

/** The path of a browser for the tests: an installed one, else a Debian package, else Playwright's own. */
export async function ensureBrowser() {
  const found = findBrowser();
  if (found !== undefined) return found;
  // The Debian package is tried first: it installs the libraries it needs, which Playwright's download does not.
  if (canUseApt()) await aptInstall(['chromium']);
  if (findBrowser() === undefined) {
    console.error('Downloading Chromium (playwright install)…');
    await runTool('playwright', ['install', 'chromium'], { timeoutMs: downloadTimeoutMs, input: 'ignore' });
  }
  const installed = findBrowser();
  if (installed !== undefined) return installed;
  throw new SetupError(
    'No Chromium was found for the browser tests. Install one (on Debian: apt-get install -y chromium) or name it: LOCKSTEP_CHROMIUM=/path/to/chromium.',
  );
}
