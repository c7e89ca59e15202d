// Sets up the clone: dependencies, build and, with --browser, a browser for the tests. It needs only Node, and takes a fraction of a second
// if nothing has changed.
import { pathToFileURL } from 'node:url';
import { ensureBrowser } from './lib/browser.mjs';
import { ensureBuild } from './lib/build.mjs';
import { checkNode, ensureDependencies } from './lib/dependencies.mjs';
import { SetupError, UsageError } from './lib/process.mjs';

/** Sets up dependencies and build. */
export async function setup() {
  checkNode();
  await ensureDependencies();
  await ensureBuild();
}

/** Runs the body of a script. A SetupError is printed as a sentence, without a stack. */
export async function main(body) {
  try {
    process.exitCode = (await body(process.argv.slice(2))) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = error.exitCode;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(async (args) => {
    const unknown = args.find((arg) => arg !== '--browser');
    if (unknown !== undefined) throw new UsageError(`setup does not know ${unknown}. It takes --browser only.`);
    await setup();
    if (args.includes('--browser')) console.log(`Browser for the tests: ${await ensureBrowser()}`);
    console.log('Ready: `npm start` opens the lab, `npm test` runs all tests.');
  });
}
