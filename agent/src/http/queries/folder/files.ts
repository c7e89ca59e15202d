import { dotKey, isLive, type Operation } from '@lockstep/shared';
import type { DirectoryPage, FilesQuery, WrittenEntry } from '@lockstep/shared/api';
import type { Done } from '../../../sync/access/access-parts.ts';
import type { Refused } from '../../../sync/access/condition.ts';
import { countBelow, type Removed } from '../../../sync/access/remove-entry.ts';
import type { Engine } from '../../../sync/engine.ts';
import { HttpError } from '../../errors.ts';
import { readTree } from './tree.ts';

const statusOf: Record<Refused['code'], number> = {
  'version-mismatch': 412,
  'version-required': 428,
  'no-entry': 404,
  'range-invalid': 416,
  'content-unavailable': 409,
  'disk-full': 507,
  'not-written': 409,
};

/** The entry at `path` as the cluster has it. Throws `no-entry`. */
export function entryAt(engine: Engine, path: string): Operation {
  const [head] = engine.context.journal.heads.at(path);
  if (head !== undefined && isLive(head)) return head;
  throw new HttpError(404, { code: 'no-entry', message: `There is nothing at ${path}.` });
}

/** A directory; undefined: the folder itself. */
export function readDirectory(
  engine: Engine,
  directory: Operation | undefined,
  { below, ...query }: FilesQuery,
): DirectoryPage {
  const path = directory?.path ?? '';
  return {
    ...readTree(engine, { path, ...query }),
    version: directory === undefined ? null : dotKey(directory),
    below: below ? (countBelow(engine.context, path) ?? null) : null,
  };
}

/** The written entry. Throws the error of a refusal. */
export function written(path: string, result: Done | Refused): WrittenEntry {
  const { isNew, operation } = accepted(result);
  return { path, version: operation === undefined ? null : dotKey(operation), isNew };
}

/** The result, or the error of a refusal is thrown. */
export function accepted<Result extends Done | Removed>(result: Result | Refused): Result {
  if (result.done) return result;
  const version = result.current === undefined ? undefined : dotKey(result.current);
  throw new HttpError(statusOf[result.code], { code: result.code, message: result.reason, version });
}
