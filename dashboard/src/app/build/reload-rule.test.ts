import { expect, test } from 'vitest';
import { mayReloadFor } from './reload-rule.ts';

function memoryOf(entries: Map<string, string>) {
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
  };
}

test('[DB-A12] a build is reloaded once, however often the page finds it', () => {
  const memory = memoryOf(new Map());
  expect(mayReloadFor('/assets/index-two.js', memory)).toBe(true);
  expect(mayReloadFor('/assets/index-two.js', memory)).toBe(false);
  expect(mayReloadFor('/assets/index-three.js', memory)).toBe(true);
});

test('[DB-A12] a page that cannot remember its reloads does not reload', () => {
  const refuses = () => {
    throw new DOMException('storage is disabled', 'SecurityError');
  };
  expect(mayReloadFor('/assets/index-two.js', undefined)).toBe(false);
  expect(mayReloadFor('/assets/index-two.js', { getItem: refuses, setItem: refuses })).toBe(false);
  expect(mayReloadFor('/assets/index-two.js', { getItem: () => null, setItem: () => undefined })).toBe(false);
});
