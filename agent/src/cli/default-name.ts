import { hostname } from 'node:os';

/** The default name of a member, made from the host name. */
export function defaultName(): string {
  const name = hostname()
    .replace(/\..*$/, '')
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40);
  return name === '' ? 'member' : name;
}
