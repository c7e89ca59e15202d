import { inspect } from 'node:util';
import type { LogLevel } from '../../config/schema.ts';
import { RecentMap } from '../../core/recent-map.ts';
import type { Log } from '../../sync/ports/log.ts';

/** A line that is written again within this time, in milliseconds, is left out. */
const repeatMs = 60_000;
/** Number of different lines that are remembered. */
const linesMax = 1_000;

/**
 * The log without its repetitions: an equal warning or error is written once a minute, and says how many were left out since. An action
 * that is tried again each second, as while a disk is full, would otherwise fill the log, which may be on that disk. `nowMs`: the clock of
 * the log.
 */
export function sparseLog(log: Log, nowMs: () => number): Log {
  const written = new RecentMap<string, { atMs: number; leftOut: number }>(linesMax);
  const at = (level: LogLevel) => (fields: object, message: string) => {
    const line = `${level} ${message} ${inspect(fields)}`;
    const last = written.get(line);
    const agoMs = last === undefined ? repeatMs : nowMs() - last.atMs;
    // The clock may have been set back.
    if (last !== undefined && agoMs >= 0 && agoMs < repeatMs) {
      last.leftOut += 1;
      return;
    }
    written.set(line, { atMs: nowMs(), leftOut: 0 });
    log[level](last === undefined || last.leftOut === 0 ? fields : { ...fields, repeated: last.leftOut }, message);
  };
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: at('warn'),
    error: at('error'),
  };
}
