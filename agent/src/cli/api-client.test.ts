import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { apiClient } from './api-client.ts';

test('an agent that takes the request and never answers is said to be suspended, with what to do', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'api-client-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'api.sock');
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  await expect(apiClient(path).get('/status', z.unknown(), 100)).rejects.toThrow('kill -CONT');
});
