import { hostname } from 'node:os';

/** A name made of this machine's, for who does not choose one. */
export function defaultName(): string {
  const name = hostname()
    .replace(/\..*$/, '')
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40);
  return name === '' ? 'member' : name;
}
