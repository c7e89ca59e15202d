// Refuses `npm pack` in the clone, which would pack sources that cannot be installed, and names the right command.
console.error(
  '\nThis is the clone. `npm run package` makes the package to install: dist-package/lockstep-VERSION.tgz.',
);
process.exitCode = 1;
