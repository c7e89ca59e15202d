import { z } from 'zod';
import { readRegularFile } from '../os/regular-file.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';

const sessionSchema = z.object({
  hash: z.string(),
  expiresAt: z.number(),
  since: z.number().optional(),
  lastUsedAt: z.number().optional(),
  address: z.string().optional(),
  agent: z.string().optional(),
});

const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  isReadOnly: z.boolean(),
  hash: z.string(),
  since: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
});

interface RecordFile<Item> {
  load(): Promise<readonly Item[]>;
  save(records: readonly Item[]): Promise<void>;
}

/**
 * The file at `path` with the browsers that are logged in. It holds hashes of their cookies, so that no copy of the file logs anyone in. A
 * file that is absent or damaged holds none: these browsers need a new link.
 */
export function sessionFile(path: string, log: Log): RecordFile<z.infer<typeof sessionSchema>> {
  return recordFile(path, sessionSchema, log, 'sessions.json cannot be read or is damaged: browsers log in again');
}

/** The file at `path` with the tokens of scripts, as hashes. A file that is absent or damaged holds none: scripts need new ones. */
export function tokenFile(path: string, log: Log): RecordFile<z.infer<typeof tokenSchema>> {
  return recordFile(path, tokenSchema, log, 'tokens.json cannot be read or is damaged: scripts need new tokens');
}

function recordFile<Item>(path: string, schema: z.ZodType<Item>, log: Log, loss: string): RecordFile<Item> {
  return {
    async load() {
      try {
        return z.array(schema).parse(JSON.parse(await readRegularFile(path)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ path, error: String(error) }, loss);
        return [];
      }
    },
    save: (records) => writeDurably(path, `${JSON.stringify(records)}\n`),
  };
}
