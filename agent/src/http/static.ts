import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../sync/ports/log.ts';
import { HttpError, sendError } from './errors.ts';

/** The build puts this placeholder where the page needs the nonce of its style sheets. */
const noncePlaceholder = '__LOCKSTEP_NONCE__';

/**
 * The policy of the page: it may load its own files and connect to the agent that served it, and nothing else. The component library writes
 * its theme into a style element: the nonce, new for each page, permits that one.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The prefixes without views, although a person may open them in a browser. */
const noViews = ['/api/', '/assets/'];

/**
 * Serves the built dashboard in `assets`: its files, and its page at `/` and at the address of every view. Only the page knows these
 * addresses.
 */
export async function addDashboardFiles(app: FastifyInstance, assets: string, log: Log): Promise<void> {
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    sendError(reply, 404, {
      code: 'not-found',
      message: `There is nothing at ${request.method} ${pathOf(request)}.`,
    });
  const readPage = (): Promise<string | undefined> =>
    readFile(join(assets, 'index.html'), 'utf8').catch(() => undefined);
  const firstPage = await readPage();
  if (firstPage === undefined) {
    app.setNotFoundHandler(notFound);
    log.warn({ assets }, 'the dashboard has not been built: only the API is served');
    app.get('/', { config: { access: 'open' }, schema: { hide: true } }, () => {
      throw new HttpError(503, {
        code: 'not-found',
        message: 'The dashboard has not been built. Run `npm run build` in the clone.',
      });
    });
    return;
  }
  const sendPage = async (_request: unknown, reply: FastifyReply) => {
    // An installation replaces the files while the agent runs: the page that was there before names files that are gone.
    const page = (await readPage()) ?? firstPage;
    const nonce = randomBytes(16).toString('base64url');
    return reply
      .header('content-security-policy', contentSecurityPolicy(nonce))
      .header('cache-control', 'no-store')
      .code(200)
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(noncePlaceholder, nonce));
  };
  app.setNotFoundHandler((request, reply) =>
    asksForView(request) ? sendPage(request, reply) : notFound(request, reply),
  );
  app.get('/', { config: { access: 'open' }, schema: { hide: true } }, sendPage);
  app.get('/index.html', { config: { access: 'open' }, schema: { hide: true } }, sendPage);
  await app.register(async (files) => {
    files.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'open' };
    });
    files.addHook('onRequest', async (request, reply) => {
      // The build puts a hash of the content into the names of the files in assets/.
      const lasting = request.url.startsWith('/assets/');
      reply.header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache');
      reply.header('vary', 'accept-encoding');
    });
    await files.register(fastifyStatic, {
      root: assets,
      index: false,
      dotfiles: 'ignore',
      cacheControl: false,
      // The build puts compressed files next to the originals.
      preCompressed: true,
    });
  });
}

/** True when a person opened the address of a view, by a link or a reload; a program does not ask for HTML. */
function asksForView(request: FastifyRequest): boolean {
  if (request.method !== 'GET' || request.headers.accept?.includes('text/html') !== true) return false;
  const path = pathOf(request);
  return !noViews.some((prefix) => path.startsWith(prefix));
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? url;
}
