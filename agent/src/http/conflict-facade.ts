import type { ConflictsPage, ConflictsQuery, ResolveRequest, ResolveResult } from '@lockstep/shared/api';

/** Bytes that a person is shown, and what a browser may take them for. */
export interface ShownContent {
  readonly bytes: Uint8Array;
  readonly type: string;
}

/** What the routes of conflicts need of the running agent. */
export interface ConflictFacade {
  conflicts(query: ConflictsQuery): ConflictsPage;
  /** Settles each as asked, or says why not. */
  resolveConflicts(request: ResolveRequest): Promise<ResolveResult>;
  /** The content of a file on this disk, or of that `version` (`origin:seq`) of it. `path` has passed `pathFault`. */
  content(path: string, version: string | undefined): Promise<ShownContent>;
}
