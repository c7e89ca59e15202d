// The modules that a program needs, found in its compiled code.
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { initSync, parse } from 'es-module-lexer';
import { SetupError } from './process.mjs';

/** `new URL('./worker.js', import.meta.url)`: the file of a thread, or of a program that is imported by its URL. */
const beforeImportMeta = /new URL\('(\.[^']*\.js)',\s*$/;

/** The specifiers of a module's static and dynamic imports, and of the modules whose URL it makes. */
function specifiers(text) {
  return parse(text)[0].flatMap(({ n: name, d: dynamic, ss: start }) => {
    const named = dynamic === -2 ? beforeImportMeta.exec(text.slice(0, start))?.[1] : name;
    return named === undefined ? [] : [named];
  });
}

/**
 * The module `entry` and all modules of the clone at `root` that it needs, directly or not, as paths relative to `root`. `aliases` maps
 * package names to modules of the clone; all other packages are left out.
 */
export function importClosure(root, entry, aliases) {
  initSync();
  const found = new Set([entry]);
  // The iteration of a set includes elements that are added during it.
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
