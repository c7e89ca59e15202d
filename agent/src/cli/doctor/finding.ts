/** How well something is: as it should be, working with a flaw, or in the way of replication. */
export type Level = 'ok' | 'warn' | 'fail';

/** What one check found. */
export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly level: Level;
  /** A sentence: what was found. */
  readonly detail: string;
  /** What to do about it; there for everything that is not ok. */
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
