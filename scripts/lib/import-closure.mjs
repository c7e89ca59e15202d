// The modules that a program needs, read from its compiled code.
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { initSync, parse } from 'es-module-lexer';
import { SetupError } from './process.mjs';

/** `new URL('./worker.js', import.meta.url)`: the file of a thread, or of a program that is imported by its URL. */
const beforeImportMeta = /new URL\('(\.[^']*\.js)',\s*$/;

/** What the module imports, statically or not, and the modules whose URL it makes, as it names them. */
function specifiers(text) {
  return parse(text)[0].flatMap(({ n: name, d: dynamic, ss: start }) => {
    const named = dynamic === -2 ? beforeImportMeta.exec(text.slice(0, start))?.[1] : name;
    return named === undefined ? [] : [named];
  });
}

/**
 * The module `entry` and all that it needs of the clone at `root`, directly or not, as paths relative to `root`. `aliases` are the
 * modules of the clone that are imported by the name of a package; all other packages are left out.
 */
export function importClosure(root, entry, aliases) {
  initSync();
  const found = new Set([entry]);
  // A set is iterated in the order of insertion, and what is added on the way comes in its turn.
  for (const path of found) {
    for (const name of specifiers(readModule(root, path))) {
      const needed = name.startsWith('.') ? posix.join(dirname(path), name) : aliases[name];
      if (needed !== undefined) found.add(needed);
    }
  }
  return [...found].sort();
}

function readModule(root, path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (cause) {
    throw new SetupError(
      `${path} is imported and cannot be read (${cause.code}). Run \`npx tsc -b --force\` and try again.`,
    );
  }
}
