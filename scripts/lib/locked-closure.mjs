// The versions that the tests ran with, for who installs the package. npm heeds a lock file inside a package only when the package
// comes from a registry, and `overrides` never: so the package names all that it needs itself, directly or not.

/** Where Node finds `name` from the package at `from`: beside it, else further up. */
function resolve(packages, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (base === '') return undefined;
  }
}

/**
 * Every package that those of `names` need at run time, with the version that `lock` (a package-lock.json) gives it. What a package
 * has for itself, because another version stands at the top, is left to its own range.
 */
export function lockedClosure(lock, names) {
  const required = {};
  const optional = {};
  const seen = new Set();
  const todo = names.map((name) => ({ from: '', name, into: required }));
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const path = resolve(lock.packages, next.from, next.name);
    // A package may be needed by one and an option of another: needed wins, whichever is met first.
    const key = `${path} ${next.into === required}`;
    if (path === undefined || seen.has(key)) continue;
    seen.add(key);
    const { version, os, dependencies = {}, optionalDependencies = {} } = lock.packages[path];
    // Of a binary for one system the lock knows those of the system that it was made on; whoever needs it names it exactly.
    if (os === undefined && path === `node_modules/${next.name}`) next.into[next.name] = version;
    for (const name of Object.keys(dependencies)) todo.push({ from: path, name, into: next.into });
    for (const name of Object.keys(optionalDependencies)) todo.push({ from: path, name, into: optional });
  }
  for (const name of Object.keys(required)) delete optional[name];
  return { dependencies: sorted(required), optionalDependencies: sorted(optional) };
}

function sorted(versions) {
  return Object.fromEntries(Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1)));
}
