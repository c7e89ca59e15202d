/** The level of a finding: as it should be, working with a flaw, or in the way of replication. */
export type Level = 'ok' | 'warn' | 'fail';

/** The result of one check. */
export interface Finding {
  /** The subject of the check, in a word or two. */
  readonly check: string;
  readonly level: Level;
  /** A sentence that describes the finding. */
  readonly detail: string;
  /** What to do about it; set for every finding that is not ok. */
  readonly remedy?: string;
}

/** Makes the findings of one check. */
export function findingsOf(check: string) {
  return {
    ok: (detail: string): Finding => ({ check, level: 'ok', detail }),
    warn: (detail: string, remedy: string): Finding => ({ check, level: 'warn', detail, remedy }),
    fail: (detail: string, remedy: string): Finding => ({ check, level: 'fail', detail, remedy }),
  };
}
