// `npm run sim:without`: takes the protections of the agent out of a copy of the compiled files, one by one. It runs the simulator on each
// copy until a seed fails. Fails if none of 1,000 does, or if a line to be taken out is not there any more. NAME runs only that one.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, UsageError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

const seedsMax = 1_000;
const seedsAtOnce = 20;

/** Staged bytes are not synced. */
const stagedUnsynced = [
  ['this.#system.fsync(fd);', ''],
  ['if (this.#system.syncFileSystem(this.#places.state))', 'if (true)'],
];

/** The edits of each compiled file: a text that occurs once in it, and what takes its place. */
const protections = [
  {
    name: 'staged-sync',
    what: 'staged bytes are synced',
    edits: { 'fs/apply/staging.js': stagedUnsynced },
  },
  {
    name: 'sync-first',
    what: 'staged bytes are synced before the rename, not after it',
    edits: {
      'fs/apply/staging.js': stagedUnsynced,
      'fs/apply/apply.js': [
        ['if (!touched.isEmpty)', 'places.system.syncFileSystem(places.state);\n    if (!touched.isEmpty)'],
      ],
    },
  },
  {
    name: 'name-sync',
    what: 'names are synced before a row says done',
    edits: { 'fs/apply/apply.js': [['of touched.sync())', 'of [])']] },
  },
  {
    name: 'look-again',
    what: 'a replaced version is checked again',
    edits: {
      'fs/apply/replaced-version.js': [
        [
          'if (this.#name === undefined)\n            return true;\n        return isVersion',
          'return true;\n        return isVersion',
        ],
      ],
    },
  },
  {
    name: 'same-inode',
    what: 'the name is still that of the held version',
    edits: { 'fs/apply/replaced-version.js': [[' || lstatIfThere(system, target)?.ino !== expected.ino', '']] },
  },
  {
    name: 'asked-first',
    what: 'others are asked before a file is dropped',
    edits: {
      'core/cache/enough-holders.js': [
        [
          'areEnoughHolders(others, { isOwn, copies }) {',
          'areEnoughHolders(others, { isOwn, copies }) {\n    return true;',
        ],
      ],
    },
  },
];

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
        throw new Error(`${file} has no single ${JSON.stringify(from)}: correct scripts/sim-without.mjs.`);
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
