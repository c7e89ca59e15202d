// `npm run sim:without`: takes the protections of the agent out of a copy of the compiled files, one by one. It runs the simulator on each
// copy until a seed fails. Fails if none of 1,000 does, or if a line to be taken out is not there any more. NAME runs only that one.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, UsageError } from './lib/process.mjs';
import { protections } from './lib/protections.mjs';
import { main, setup } from './setup.mjs';

const seedsMax = 1_000;
const seedsAtOnce = 20;

const compiled = join(root, 'agent', 'dist');
const changed = join(root, 'agent', 'dist-without');

/** The compiled agent without the protection. */
function takeOut({ edits }) {
  rmSync(changed, { recursive: true, force: true });
  cpSync(compiled, changed, { recursive: true });
  for (const [file, ofFile] of Object.entries(edits)) {
    const path = join(changed, file);
    let text = readFileSync(path, 'utf8');
    for (const [from, to] of ofFile) {
      if (text.split(from).length !== 2)
        throw new Error(`${file} has no single ${JSON.stringify(from)}: correct scripts/lib/protections.mjs.`);
      text = text.replace(from, to);
    }
    writeFileSync(path, text);
  }
}

/** The first lines of the report of a seed that fails. Undefined if none does. */
async function firstFailure() {
  for (let from = 1; from <= seedsMax; from += seedsAtOnce) {
    const args = [join(changed, 'sim', 'main.js'), '--from', String(from), '--seeds', String(seedsAtOnce)];
    const { code, output } = await run(process.execPath, args, { quiet: true });
    const [failure] = /^seed \d+: \w+/m.exec(output) ?? [];
    if (failure !== undefined) return failure;
    if (code !== 0) throw new Error(output);
  }
  return undefined;
}

await main(async ([name]) => {
  const chosen = protections.filter((protection) => name === undefined || protection.name === name);
  if (chosen.length === 0)
    throw new UsageError(`There is no protection ${name}. They are ${protections.map((one) => one.name).join(', ')}.`);
  await setup();
  let missed = 0;
  try {
    for (const protection of chosen) {
      takeOut(protection);
      const failure = await firstFailure();
      if (failure === undefined) missed++;
      console.log(`Without "${protection.what}": ${failure ?? `none of ${seedsMax} seeds fails`}`);
    }
  } finally {
    rmSync(changed, { recursive: true, force: true });
  }
  console.log(`Protections: ${chosen.length - missed} found to be missing, ${missed} not found`);
  return missed === 0 ? 0 : 1;
});
