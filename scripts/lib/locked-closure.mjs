// The dependencies of the package, in the versions that the tests ran with. npm follows a lock file inside a package only if the package
// comes from a registry, and never follows `overrides`. So the package itself names all that it needs, directly or not.

/** The path at which Node finds `name` from the package at `from`: in its own node_modules, or in one further up. */
function resolve(packages, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (base === '') return undefined;
  }
}

/**
 * The packages in `names` and all that they need at run time, with their versions in `lock` (a package-lock.json). A nested package, which exists
 * because another version is at the top, is left to the range of the package that needs it.
 */
export function lockedClosure(lock, names) {
  const required = {};
  const optional = {};
  const seen = new Set();
  const todo = names.map((name) => {
    const isOptional = lock.packages[`node_modules/${name}`]?.optional ?? false;
    return { from: '', name, into: isOptional ? optional : required };
  });
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const path = resolve(lock.packages, next.from, next.name);
    // A package may be required by one package and optional for another: required wins, in any order.
    const key = `${path} ${next.into === required}`;
    if (path === undefined || seen.has(key)) continue;
    seen.add(key);
    const { name, version, os, dependencies = {}, optionalDependencies = {} } = lock.packages[path];
    // A binary for one system is left out: the lock may name only that of its own system, and the package that needs it names it exactly.
    if (os === undefined && path === `node_modules/${next.name}`) {
      // The lock gives the name of a package only where it is installed under another one.
      next.into[next.name] = name === undefined ? version : `npm:${name}@${version}`;
    }
    for (const needed of Object.keys(dependencies)) todo.push({ from: path, name: needed, into: next.into });
    for (const needed of Object.keys(optionalDependencies)) todo.push({ from: path, name: needed, into: optional });
  }
  for (const name of Object.keys(required)) delete optional[name];
  return { dependencies: sorted(required), optionalDependencies: sorted(optional) };
}

function sorted(versions) {
  return Object.fromEntries(Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1)));
}
