import type { Health } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** Whether the member can do its work. */
export function readHealth({ lifecycle: { state }, health }: Engine): Health {
  return health.folder.ok ? { ok: true, state } : { ok: false, state, detail: health.folder.detail };
}
