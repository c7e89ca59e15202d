import type { ApiError, WrittenEntry } from '@lockstep/shared/api';
import { apiPrefix } from '../../live/use-api.ts';
import { encodePath } from '../links.ts';

/** One file on its way to the agent. `replaces`: the version that it may replace; without it nothing may be there. */
export interface Sending {
  readonly path: string;
  readonly file: File;
  readonly replaces: string | undefined;
  readonly signal: AbortSignal;
  /** Called with the bytes that have left the browser. */
  readonly progressed: (bytes: number) => void;
}

/** `taken`: another file has the name, in `version`. `failed`: with a sentence that says why. */
export type Sent =
  | { readonly is: 'there' }
  | { readonly is: 'taken'; readonly version: string }
  | { readonly is: 'failed'; readonly reason: string };

/** From this size on it is asked first whether the name is free: a refusal would come after all bytes. */
const askFirstBytes = 1_048_576;

/** The interval at which it is asked whether a large file is journaled. */
const askAgainMs = 1_000;

const silent = 'The agent does not answer, or this browser cannot read the file any more.';

/** Puts a file into the folder; the browser streams it from its disk. Resolves when the agent has journaled it. Never rejects. */
export async function sendFile(sending: Sending): Promise<Sent> {
  const { path, file, replaces, signal } = sending;
  const url = `${apiPrefix}/files/${encodePath(path)}`;
  try {
    if (replaces === undefined && file.size >= askFirstBytes) {
      const version = await versionAt(url, signal);
      if (version !== undefined) return { is: 'taken', version };
    }
    const { status, said } = await put(url, sending);
    if (status === 412 && 'error' in said && said.error.version !== undefined) {
      return { is: 'taken', version: said.error.version };
    }
    if ('error' in said) return { is: 'failed', reason: said.error.message };
    while (said.version === null && ((await versionAt(url, signal)) ?? replaces) === replaces) {
      await new Promise((resolve) => setTimeout(resolve, askAgainMs));
    }
    return { is: 'there' };
  } catch {
    return { is: 'failed', reason: signal.aborted ? 'It was stopped.' : silent };
  }
}

/** The version of the file that has the name; undefined if none has. */
async function versionAt(url: string, signal: AbortSignal): Promise<string | undefined> {
  const { headers } = await fetch(url, { method: 'HEAD', signal });
  return headers.get('etag')?.replaceAll('"', '');
}

/** Only the older interface says how many bytes have left. */
function put(
  url: string,
  { file, replaces, signal, progressed }: Sending,
): Promise<{ readonly status: number; readonly said: WrittenEntry | ApiError }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader(replaces === undefined ? 'If-None-Match' : 'If-Match', replaces ? `"${replaces}"` : '*');
    request.upload.onprogress = ({ loaded }) => progressed(loaded);
    const stop = (): void => request.abort();
    signal.addEventListener('abort', stop);
    request.onloadend = () => {
      signal.removeEventListener('abort', stop);
      try {
        resolve({ status: request.status, said: JSON.parse(request.responseText) });
      } catch (error) {
        reject(error);
      }
    };
    request.send(file);
  });
}
