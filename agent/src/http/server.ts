import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import websocket from '@fastify/websocket';
import { LockstepError } from '@lockstep/shared';
import { apiPrefix } from '@lockstep/shared/api';
import fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import type { Log } from '../sync/ports/log.ts';
import type { Access, LoginLink } from './access/access.ts';
import type { OpenRequests } from './access/open-requests.ts';
import { serveOnSocket } from './access/own-socket.ts';
import { checkAccess } from './access/route-access.ts';
import { arrivalTimeouts, limitArrival } from './arrival.ts';
import { limitAtOnce } from './at-once.ts';
import { answerError, sendError } from './errors.ts';
import { guardedRequest, refusalOf } from './guard.ts';
import { bodyBytesMax, closeGraceMs, liveInboundBytesMax } from './limits.ts';
import { createLiveReaders } from './live/live-readers.ts';
import { commandRoutes } from './routes/commands.ts';
import { conflictRoutes } from './routes/conflicts.ts';
import { controlRoutes } from './routes/control.ts';
import { copiesRoutes } from './routes/copies.ts';
import { draftRoomRoutes } from './routes/draft-rooms.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { healthRoutes } from './routes/health.ts';
import { ignoreRuleRoutes } from './routes/ignore-rules.ts';
import { latencyRoutes } from './routes/latencies.ts';
import { loginRoute, loginRoutes } from './routes/login.ts';
import { memberControlRoutes } from './routes/member-control.ts';
import { membershipRoutes } from './routes/membership.ts';
import { monitoringRoutes } from './routes/monitoring.ts';
import { noticeRoutes } from './routes/notices.ts';
import { operationRoutes } from './routes/operations.ts';
import { remoteRoutes } from './routes/remote.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { settingRoutes } from './routes/settings.ts';
import { stateRoutes } from './routes/state.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { transferRoutes } from './routes/transfers.ts';
import { treeRoutes } from './routes/tree.ts';
import { versionRoutes } from './routes/versions.ts';
import { schemaController } from './schema-controller.ts';
import type { ServedMember } from './served-member.ts';
import { addDashboardFiles } from './static.ts';

export interface HttpOptions {
  readonly member: ServedMember;
  /** Port 0: any free port. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The path of the Unix socket for commands; without it there is none. */
  readonly socketPath?: string | undefined;
  readonly access: Access;
  /** The certificate and the key; without them the connections are not encrypted. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Folder with the built dashboard. */
  readonly assets: string;
  readonly log: Log;
  /** Names and addresses under which it answers, in addition to localhost, this machine's name and the address it listens on. */
  readonly hostNames?: readonly string[] | undefined;
  /** Another limit of the size of a file than that of a replicated one, for a test. */
  readonly fileBytesMax?: number | undefined;
}

export interface HttpServer {
  /** The URL of the dashboard for a browser on this machine; ends with a slash. */
  readonly url: string;
  /** The path of the Unix socket for commands; it may be another one than was asked for. */
  readonly socketPath: string | undefined;
  /** A new link that logs one browser in. */
  loginLink(): LoginLink;
  /** Ends the live streams, lets requests under way finish for a moment, and stops listening. */
  close(): Promise<void>;
}

const anyAddresses = new Set(['0.0.0.0', '::']);

/** Builds the server without listening; its `close` ends everything that it opened. */
export async function buildServer(options: HttpOptions): Promise<FastifyInstance> {
  const { log, access } = options;
  const stopping = new AbortController();
  // The name of the machine may change while the agent runs.
  const hostNames = (): ReadonlySet<string> =>
    new Set([options.listen.host, hostname(), ...(options.hostNames ?? [])].map((name) => name.toLowerCase()));

  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    ...arrivalTimeouts,
    schemaController,
    frameworkErrors: (error, _request, reply) => answerError(error, reply, log),
    // The types of fastify differ by the kind of server; the routes are the same.
    ...(options.tls && ({ https: options.tls } as object)),
  });
  app.setErrorHandler((error, _request, reply) => answerError(error, reply, log));
  // Only JSON is read: types that a page of another site may send without a preflight request are refused.
  app.removeContentTypeParser('text/plain');

  // Registered before our own hooks: it marks upgrades, and closes the connections of those that are refused.
  await app.register(websocket, {
    options: { maxPayload: liveInboundBytesMax },
    preClose(done) {
      stopping.abort();
      for (const socket of this.websocketServer.clients) socket.close(1001, 'the agent stops');
      this.websocketServer.close();
      done();
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const refusal = refusalOf(guardedRequest(request), hostNames());
    if (refusal !== undefined) {
      log.warn({ code: refusal.code, host: request.headers.host, origin: request.headers.origin }, 'refused a request');
      return sendError(reply, 403, refusal);
    }
    return undefined;
  });
  const open = checkAccess(app, access);
  limitAtOnce(app);
  limitArrival(app);
  app.addHook('onSend', async (_request, reply) => {
    // A connection kept open for another request would delay the end.
    if (stopping.signal.aborted) reply.header('connection', 'close');
  });

  const described: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.schema?.hide !== true) described.push(route);
  });
  await registerRoutes(app, options, { stopping: stopping.signal, open });
  let description: Promise<object> | undefined;
  app.get(`${apiPrefix}/openapi.json`, { schema: { hide: true } }, () => {
    // Few agents are ever asked for metrics, and their libraries take a fortieth of the time of a start.
    description ??= import('./openapi.ts').then(({ describeRoutes }) => describeRoutes(described));
    return description;
  });
  await addDashboardFiles(app, options.assets, log);
  return app;
}

/** `open`: the requests that end with their login or token. */
async function registerRoutes(
  app: FastifyInstance,
  options: HttpOptions,
  { stopping, open }: { readonly stopping: AbortSignal; readonly open: OpenRequests },
): Promise<void> {
  const { member, access, log } = options;
  const readers = createLiveReaders(app, log);
  await app.register(stateRoutes, { prefix: apiPrefix, member });
  await app.register(treeRoutes, { prefix: apiPrefix, member, stopping });
  await app.register(latencyRoutes, { prefix: apiPrefix, member });
  await app.register(commandRoutes, { prefix: apiPrefix, member, stopping });
  await app.register(membershipRoutes, { prefix: apiPrefix, member });
  await app.register(controlRoutes, { prefix: apiPrefix, member });
  await app.register(memberControlRoutes, { prefix: apiPrefix, member });
  await app.register(transferRoutes, { prefix: apiPrefix, member });
  await app.register(healthRoutes, { prefix: apiPrefix, member });
  await app.register(noticeRoutes, { prefix: apiPrefix, member });
  await app.register(settingRoutes, { prefix: apiPrefix, member });
  await app.register(ignoreRuleRoutes, { prefix: apiPrefix, member, stopping });
  await app.register(conflictRoutes, { prefix: apiPrefix, member });
  await app.register(remoteRoutes, { prefix: apiPrefix, member });
  await app.register(draftRoomRoutes, { prefix: apiPrefix, member });
  await app.register(copiesRoutes, { prefix: apiPrefix, member });
  await app.register(fileRoutes, { prefix: apiPrefix, member, fileBytesMax: options.fileBytesMax });
  await app.register(versionRoutes, { prefix: apiPrefix, member });
  await app.register(operationRoutes, { prefix: apiPrefix, member, readers, log });
  await app.register(eventRoutes, { prefix: apiPrefix, member, readers, log });
  await app.register(loginRoutes, { prefix: apiPrefix, access, dashboard: () => dashboardUrl(app, options) });
  await app.register(loginRoute, { access });
  await app.register(sessionRoutes, { prefix: apiPrefix, access, open });
  await app.register(tokenRoutes, { prefix: apiPrefix, access, open });
  await app.register(monitoringRoutes, { member });
}

/** Serves the API and the dashboard. Rejects with `port-in-use` or `config-invalid` if it cannot listen. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const app = await buildServer(options);
  const closeFreshConnections = [followFreshConnections(app.server)];
  const { host, port } = options.listen;
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw listenError(cause, host, port);
  }
  const { access, socketPath } = options;
  const own =
    socketPath === undefined
      ? undefined
      : await serveOnSocket(app, access, socketPath).catch(async (cause: unknown) => {
          await app.close();
          throw cause;
        });
  const servers = own === undefined ? [app.server] : [app.server, own.server];
  if (own !== undefined) closeFreshConnections.push(followFreshConnections(own.server));
  const url = dashboardUrl(app, options);
  return {
    url,
    socketPath: own?.path,
    loginLink: () => access.loginLink(url),
    close: async () => {
      const force = setTimeout(() => {
        for (const socket of app.websocketServer.clients) socket.terminate();
        for (const server of servers) server.closeAllConnections();
      }, closeGraceMs);
      for (const close of closeFreshConnections) close();
      await Promise.all([app.close(), own?.close()]);
      clearTimeout(force);
      await access.flushed();
    },
  };
}

/** The URL of a server that listens. */
function dashboardUrl({ server }: FastifyInstance, { listen: { host, port }, tls }: HttpOptions): string {
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  const shown = anyAddresses.has(host) ? '127.0.0.1' : host;
  const scheme = tls === undefined ? 'http' : 'https';
  return `${scheme}://${shown.includes(':') ? `[${shown}]` : shown}:${boundPort}/`;
}

function listenError(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const where = `${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return new LockstepError(
        'port-in-use',
        `The dashboard cannot listen on ${where}: another program already does. Stop it, or choose another port with --dashboard.`,
        { cause },
      );
    case 'EACCES':
      return new LockstepError(
        'config-invalid',
        `The dashboard may not listen on ${where}: ports below 1024 need more rights. Choose another port with --dashboard.`,
        { cause },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new LockstepError(
        'config-invalid',
        `The dashboard cannot listen on ${where}: this machine has no such address. Correct "dashboard" in config.toml.`,
        { cause },
      );
    default:
      return cause;
  }
}

/**
 * Tracks the connections without a request yet. Browsers open such ones in advance, and Node counts them neither as idle nor as active.
 * Without this they would delay the end of the server. Returns a function that closes them.
 */
function followFreshConnections(server: Server): () => void {
  const fresh = new Set<Socket>();
  const used = ({ socket }: IncomingMessage) => fresh.delete(socket);
  server.on('connection', (socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  server.on('request', used);
  server.on('upgrade', used);
  return () => {
    for (const socket of fresh) socket.destroy();
  };
}
