import { z } from 'zod';
import { readRegularFile } from '../os/regular-file.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';

const sessionsSchema = z.array(z.object({ hash: z.string(), expiresAt: z.number() })).readonly();

type Sessions = z.infer<typeof sessionsSchema>;

/**
 * The file at `path` with the browsers that are logged in. It holds hashes of their cookies, so that no copy of the file logs anyone in. A
 * file that is absent or damaged holds none: these browsers need a new link.
 */
export function sessionFile(
  path: string,
  log: Log,
): { load(): Promise<Sessions>; save(sessions: Sessions): Promise<void> } {
  return {
    async load() {
      try {
        return sessionsSchema.parse(JSON.parse(await readRegularFile(path)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          log.warn({ path, error: String(error) }, 'sessions.json cannot be read or is damaged: browsers log in again');
        }
        return [];
      }
    },
    save: (sessions) => writeDurably(path, `${JSON.stringify(sessions)}\n`),
  };
}
