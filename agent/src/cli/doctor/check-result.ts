/** The level of a result: as it should be, working with a flaw, or in the way of replication. */
export type Level = 'ok' | 'warn' | 'fail';

/** The result of one check. */
export interface CheckResult {
  /** The subject of the check, in a word or two. */
  readonly check: string;
  readonly level: Level;
  /** A sentence that describes the result. */
  readonly detail: string;
  /** The action to take; set for every result that is not ok. */
  readonly remedy?: string;
}

/** Makes the results of one check. */
export function resultsOf(check: string) {
  return {
    ok: (detail: string): CheckResult => ({ check, level: 'ok', detail }),
    warn: (detail: string, remedy: string): CheckResult => ({ check, level: 'warn', detail, remedy }),
    fail: (detail: string, remedy: string): CheckResult => ({ check, level: 'fail', detail, remedy }),
  };
}
