import type { Config, LogLevel } from '../../config/schema.ts';
import { logLevels } from '../../config/schema.ts';
import type { Log } from '../../sync/ports/log.ts';
import { formatMoment, printable } from './format.ts';
import { sparseLog } from './sparse-log.ts';
import type { Colour, Paint, Terminal } from './terminal.ts';

const colours: Readonly<Record<LogLevel, Colour>> = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' };

/** The log of a member on standard error: lines for a person on a terminal, otherwise JSON. */
export async function memberLog(
  terminal: Terminal,
  { name, logLevel }: Pick<Config, 'name' | 'logLevel'>,
): Promise<Log> {
  if (terminal.isWatched) return sparseLog(readableLog(terminal, logLevel), terminal.nowMs);
  // Loaded here only: most commands write no log.
  const { pino } = await import('pino');
  // Synchronous, so that the last lines before a crash are not lost; at the default level there are few.
  const log = pino({ level: logLevel, base: { member: name } }, pino.destination({ dest: 2, sync: true }));
  return sparseLog(log, terminal.nowMs);
}

function readableLog(terminal: Terminal, lowest: LogLevel): Log {
  const at = (level: LogLevel) => (fields: object, message: string) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return;
    terminal.note(formatLogLine({ level, fields, message, atMs: terminal.nowMs() }, terminal.paint));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

interface LogEntry {
  readonly level: LogLevel;
  readonly fields: object;
  readonly message: string;
  readonly atMs: number;
}

/** One line of the log for a person: time, level, sentence, and the fields that the sentence does not repeat. */
export function formatLogLine({ level, fields, message, atMs }: LogEntry, paint: Paint): string {
  const said = Object.entries(fields).flatMap(([key, value]) => {
    const text = valueText(value);
    return text === undefined || key === 'since' || text === message ? [] : [`${key} ${printable(text)}`];
  });
  const details = said.length === 0 ? '' : ` ${paint('dim', `(${said.join(', ')})`)}`;
  const time = paint('dim', formatMoment(atMs).slice(11));
  return `${time}  ${paint(colours[level], level.padEnd(5))}  ${printable(message)}${details}`;
}

function valueText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Error ? value.message : JSON.stringify(value);
}
