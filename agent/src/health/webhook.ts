import { createHash } from 'node:crypto';
import type { Delivery, Target } from './delivery.ts';

/** The time that a webhook has for its answer. */
const timeoutMs = 10_000;

/** Names a webhook to the other members: they learn whether it is theirs too, and nothing else. */
export function webhookId(url: string): string | undefined {
  return url === '' ? undefined : createHash('sha256').update(`lockstep webhook ${url}`).digest('hex').slice(0, 16);
}

/** A target that posts each delivery as JSON to `url`. */
export function webhookTarget(url: string): Target {
  // The path of a webhook is mostly its secret.
  const { host } = new URL(url);
  return {
    name: 'webhook',
    what: host,
    async deliver(delivery: Delivery, stopping: AbortSignal) {
      const answer = await post(url, delivery, stopping).catch((cause: unknown) => {
        throw new Error(
          `${host} did not answer: ${reasonOf(cause)}. Check notify_webhook, and that this machine reaches it.`,
          { cause },
        );
      });
      const { status } = answer;
      // A body that never ends would keep the connection.
      await answer.body?.cancel().catch(() => undefined);
      if (status >= 200 && status < 300) return `${host} answered ${status}.`;
      if (status >= 300 && status < 400) {
        throw new Error(
          `${host} answered ${status}, a redirect, which is not followed. Put the final URL into notify_webhook.`,
        );
      }
      throw new Error(
        `${host} answered ${status}. Check that notify_webhook is right, and what the service says about it.`,
      );
    },
  };
}

function post(url: string, delivery: Delivery, stopping: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'lockstep' },
    body: JSON.stringify(delivery),
    // A redirect could carry the notices to a server that no setting names.
    redirect: 'manual',
    signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
  });
}

/** fetch says only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || (cause as NodeJS.ErrnoException).code || error.message;
}
