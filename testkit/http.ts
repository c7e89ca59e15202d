import { open } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Less than the longest test may take: what is not answered is named then. */
const answerMsMax = 240_000;

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request, and the agent that it goes to: by the URL of its dashboard, or by its socket. */
export interface Question {
  readonly to: { readonly url: string } | { readonly socket: string };
  readonly method?: 'GET' | 'POST' | undefined;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An address for the socket at `path`, which may be longer than the kernel takes: then from its open directory. */
async function socketAddress(path: string): Promise<{ readonly path: string; close(): Promise<void> }> {
  if (Buffer.byteLength(path) < 108) return { path, close: () => Promise.resolve() };
  const directory = await open(dirname(path));
  return { path: join('/proc/self/fd', String(directory.fd), basename(path)), close: () => directory.close() };
}

/** A signal that ends a request that gets no answer. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(answerMsMax);
}

/** Sends one request on a connection of its own, and waits for the answer. */
export async function ask({ to, method = 'GET', path, body, headers = {} }: Question): Promise<Answer> {
  const sent = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const socket = 'socket' in to ? await socketAddress(to.socket) : undefined;
  const { hostname, port } = new URL('url' in to ? to.url : 'http://localhost/');
  const target = socket === undefined ? { host: hostname, port } : { socketPath: socket.path };
  return new Promise<Answer>((resolve, reject) => {
    const options = { ...target, path, method, headers: sent, agent: false, signal: patience() };
    const outgoing = request(options, (incoming) => {
      text(incoming).then(
        (answer) => resolve({ status: incoming.statusCode, headers: incoming.headers, text: answer }),
        reject,
      );
    });
    outgoing.once('error', (error) => reject(new Error(`${method} ${path}: ${error.message}`, { cause: error })));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  }).finally(() => socket?.close());
}

/** The cookie that a browser gets from a link of `lockstep dashboard`: `name=value`. */
export async function cookieFrom(link: string): Promise<string> {
  const { pathname, search } = new URL(link);
  const { status, headers, text: said } = await ask({ to: { url: link }, path: pathname + search });
  const [cookie] = headers['set-cookie']?.[0]?.split(';') ?? [];
  if (cookie === undefined) throw new Error(`${link} logs no one in: ${status} ${said}`);
  return cookie;
}
