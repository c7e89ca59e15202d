import { expect, test } from 'vitest';
import { loadFuse } from './fuse-mount.ts';

test('[FM1] without the library one sentence says what to install', () => {
  const absent = (): never => {
    throw new Error('Cannot find module');
  };
  expect(() => loadFuse(absent)).toThrow(
    'lockstep mount needs the package @cocalc/fuse-native, which is not here or cannot be loaded: apt-get install -y libfuse-dev fuse3, and then install Lockstep again.',
  );
});
