import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { apiPrefix } from '@lockstep/shared/api';
import { socketAddress } from '../../os/socket-address.ts';
import { MountError } from '../errno.ts';

/** Programs get an error from an agent that does not answer for so long. */
const answerMsMax = 9_000;

/** The errors that the agent's answers are for a program. */
const codes: Readonly<Record<number, 'ENOENT' | 'ESTALE' | 'EEXIST' | 'ENOSPC'>> = {
  404: 'ENOENT',
  410: 'ESTALE',
  412: 'EEXIST',
  507: 'ENOSPC',
};

/** A request to the agent. */
interface Question {
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** On a connection of its own. */
  readonly isOwn?: boolean;
}

/** The address of the agent, and the person who is told about it. */
export interface AgentAddress {
  /** Finds the agent; it may be another one after a restart. */
  readonly socketPath: () => Promise<string>;
  /** Tells a sentence to the person who mounted the folder. */
  readonly say: (sentence: string) => void;
}

/** Questions to the agent, through its socket. One that is refused throws an error with `code`, such as `EIO`. */
export class AgentQuestions {
  readonly #socketPath: () => Promise<string>;
  readonly #say: (sentence: string) => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  #explained: string | undefined;

  constructor({ socketPath, say }: AgentAddress) {
    this.#socketPath = socketPath;
    this.#say = say;
  }

  /** The answer, whose body is to be read. */
  async ask(
    method: string,
    path: string,
    { headers = {}, body, timeoutMs = answerMsMax, isOwn = false }: Question = {},
  ): Promise<IncomingMessage> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const address = await socketAddress(await this.#socketPath());
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { socketPath: address.path, path: apiPrefix + path, method, headers: { ...headers, ...type } };
      const outgoing = request({ ...options, agent: isOwn ? false : this.#agent }, resolve);
      outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error('no answer')));
      outgoing.once('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    })
      .catch((cause: unknown) => {
        throw new MountError('EIO', `The agent does not answer (${(cause as Error).message}).`);
      })
      .finally(() => address.release());
    const { statusCode = 500 } = answer;
    if (statusCode < 400) return answer;
    const reason = reasonIn((await buffer(answer)).toString('utf8'));
    const code = codes[statusCode] ?? 'EIO';
    if (code === 'EIO' || code === 'ENOSPC') this.#explain(reason);
    throw new MountError(code, reason);
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** Programs show only the number of an error, and repeat it for each read. */
  #explain(reason: string): void {
    if (reason !== this.#explained) this.#say(reason);
    this.#explained = reason;
  }
}

function reasonIn(answer: string): string {
  try {
    return String((JSON.parse(answer) as { error?: { message?: unknown } }).error?.message ?? answer);
  } catch {
    return answer;
  }
}
