import { describe, expect, test } from 'vitest';
import type { Log } from '../../sync/ports/log.ts';
import { sparseLog } from './sparse-log.ts';

function recorded() {
  let nowMs = 1_000_000;
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    const error = 'error' in fields ? { error: String(fields.error) } : {};
    lines.push(`${level} ${message} ${JSON.stringify({ ...fields, ...error })}`);
  };
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, log: sparseLog(log, () => nowMs), pass: (ms: number) => (nowMs += ms) };
}

describe('[CL25] a warning or error that repeats', () => {
  test('is written once a minute, with the number of those that were left out', () => {
    const { lines, log, pass } = recorded();
    for (let second = 0; second < 130; second++) {
      log.error({ error: 'no room' }, 'it failed');
      pass(1_000);
    }
    expect(lines).toEqual([
      'error it failed {"error":"no room"}',
      'error it failed {"error":"no room","repeated":59}',
      'error it failed {"error":"no room","repeated":59}',
    ]);
  });

  test('is written each time if it comes less often', () => {
    const { lines, log, pass } = recorded();
    log.warn({}, 'it failed');
    pass(60_000);
    log.warn({}, 'it failed');
    expect(lines).toEqual(['warn it failed {}', 'warn it failed {}']);
  });

  test('is another one if its level, a field or its error differs', () => {
    const { lines, log } = recorded();
    log.warn({ path: 'a' }, 'it failed');
    log.warn({ path: 'b' }, 'it failed');
    log.error({ path: 'b' }, 'it failed');
    for (const text of ['one', 'two', 'two']) log.error({ error: new Error(text) }, 'it failed');
    expect(lines).toHaveLength(5);
  });

  test('is written after the clock was set back', () => {
    const { lines, log, pass } = recorded();
    log.error({}, 'it failed');
    pass(-5_000);
    log.error({}, 'it failed');
    expect(lines).toHaveLength(2);
  });

  test('leaves out nothing of what is only told', () => {
    const { lines, log } = recorded();
    for (const level of ['debug', 'debug', 'info', 'info'] as const) log[level]({}, 'it happened');
    expect(lines).toHaveLength(4);
  });
});
