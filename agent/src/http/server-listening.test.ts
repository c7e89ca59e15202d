import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ServedCluster } from '../../test/support/served-cluster.ts';
import { waitsMax } from './limits.ts';
import { type HttpServer, startHttp } from './server.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

let served: ServedCluster;

beforeEach(async () => {
  served = await ServedCluster.open();
});

describe('listening', () => {
  test('the address is reported, and nothing listens after close', async () => {
    const server = await startHttp(served.options);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect((await fetch(`${server.url}healthz`)).status).toBe(200);
    await server.close();
    await expect(fetch(`${server.url}healthz`)).rejects.toThrow();
  });

  test('a taken port is named', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    try {
      const attempt = startHttp({ ...served.options, listen: { host: '127.0.0.1', port } });
      await expect(attempt).rejects.toMatchObject({ code: 'port-in-use', message: expect.stringContaining(`${port}`) });
    } finally {
      other.close();
    }
  });

  describe('waiting', () => {
    let server: HttpServer;
    /** Whether the client has disconnected, for each wait. */
    let asked: (() => boolean)[];
    /** One login for all requests: a member keeps 64, and ends the requests of the oldest when there are more. */
    let cookie: { readonly cookie: string };
    const post = (signal?: AbortSignal) =>
      fetch(`${server.url}api/v1/wait`, {
        method: 'POST',
        headers: { ...cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ timeoutMs: 60_000 }),
        signal: signal ?? null,
      });

    beforeEach(async () => {
      served = await ServedCluster.openThree();
      cookie = served.cookie;
      asked = [];
      const wait = served.engine.wait.bind(served.engine);
      vi.spyOn(served.engine, 'wait').mockImplementation((query, aborted = () => false) => {
        asked.push(aborted);
        return wait(query, aborted);
      });
      server = await startHttp(served.options);
      served.cluster.begin();
    });
    afterEach(() => server.close());

    test('ends when the client disconnects', async () => {
      const asker = new AbortController();
      const answer = post(asker.signal);
      await vi.waitFor(() => expect(asked).toHaveLength(1), patience);
      expect(asked[0]?.()).toBe(false);
      asker.abort();
      await expect(answer).rejects.toThrow();
      await vi.waitFor(() => expect(asked[0]?.()).toBe(true), patience);
    });

    test('[AC6] one too many is refused; one whose client has gone no longer counts', async () => {
      const askers = Array.from({ length: waitsMax }, () => new AbortController());
      const answers = askers.map(({ signal }) => post(signal));
      await vi.waitFor(() => expect(asked).toHaveLength(waitsMax), patience);
      const refused = await post();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { code: 'too-many' } });
      askers[0]?.abort();
      await expect(answers[0]).rejects.toThrow();
      const last = new AbortController();
      askers.push(last);
      // The refused ones end at once, and the one that is taken does not.
      await vi.waitFor(async () => {
        answers.push(post(last.signal));
        await vi.waitFor(() => expect(asked).toHaveLength(waitsMax + 1), 500);
      }, patience);
      for (const asker of askers) asker.abort();
      await Promise.allSettled(answers);
    });

    test('[AC6] requests that have ended count no longer', async () => {
      for (let request = 0; request < 3; request++) {
        const verified = await fetch(`${server.url}api/v1/verify`, { method: 'POST', headers: cookie });
        expect(verified.status).toBe(200);
      }
    });

    test('is answered when the agent stops', async () => {
      const answer = post();
      await vi.waitFor(() => expect(asked).toHaveLength(1), patience);
      const closed = server.close();
      expect(await (await answer).json()).toMatchObject({ done: false });
      await closed;
    });
  });
});
