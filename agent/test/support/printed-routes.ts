import type { FastifyInstance } from 'fastify';

export interface PrintedRoute {
  readonly method: string;
  readonly url: string;
}

/** All routes of a server, from the tree that fastify prints: it has no list of them. */
export function printedRoutes(app: FastifyInstance): readonly PrintedRoute[] {
  const routes: PrintedRoute[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods] = /^([\s│├└─]*)(\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    parents.length = indent.length / 4;
    parents.push(part);
    // The slash before a wildcard is not printed.
    const url = parents.join('').replace(/([^/])\*$/, '$1/*');
    for (const method of methods?.split(', ') ?? []) routes.push({ method, url });
  }
  return routes;
}
