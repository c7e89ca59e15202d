// `npm pack` in the clone would pack its sources, which nobody can install: this says what does it right.
console.error('\nThis is the clone. `npm run package` makes what people install: dist-package/lockstep-VERSION.tgz.');
process.exitCode = 1;
