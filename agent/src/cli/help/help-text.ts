import type { Command } from 'commander';
import { configKeys } from '../../config/config-keys.ts';
import { type CommandHelp, commandHelp } from './command-help.ts';

/** A line of a list: a term and its meaning. */
export type Term = readonly [term: string, meaning: string];

/** The exit codes of a command. */
export function exitTerms({ exit }: CommandHelp): readonly Term[] {
  return [
    ['0', exit?.done ?? 'done'],
    ['1', exit?.notDone ?? 'not done: the message says why, and what to do'],
    ['2', 'wrong use: an option, argument or setting that is not allowed'],
  ];
}

/** The environment variables that `command` reads. */
export function environmentTerms(command: Command): readonly Term[] {
  const flags = new Set(command.options.map(({ long }) => long));
  const settings = configKeys
    .filter(({ flag }) => flags.has(`--${flag}`) && command.name() !== 'init')
    .map(
      ({ environment, flag, list }): Term => [environment, `as --${flag}${list ? ', several joined by commas' : ''}`],
    );
  return [
    ...settings,
    ['NO_COLOR', 'if set, nothing is printed in colour'],
    ['FORCE_COLOR', 'if 1, colours are printed into a file or pipe too'],
  ];
}

function section(title: string, terms: readonly Term[]): string {
  const width = Math.max(...terms.map(([term]) => term.length));
  return [`${title}:`, ...terms.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`)].join('\n');
}

/** Breaks lines at blanks, so that they fit into a terminal. */
function wrapped(text: string, width = 80): string {
  return text.replaceAll(new RegExp(`(.{1,${width}})(?: +|$)`, 'g'), '$1\n').trimEnd();
}

function exampleLines(examples: CommandHelp['examples']): string {
  return ['Examples:', ...examples.flatMap(([line, what]) => [`  # ${what}`, `  ${line}`])].join('\n');
}

/** Adds details, examples, environment and exit codes to the help of every command of `program`. */
export function addCommandHelp(program: Command): void {
  for (const command of program.commands) {
    const help = commandHelp[command.name()];
    if (help === undefined) continue;
    const parts = [
      ...(help.details ?? []).map((paragraph) => wrapped(paragraph)),
      exampleLines(help.examples),
      section('Environment', environmentTerms(command)),
      section('Exit codes', exitTerms(help)),
    ];
    command.addHelpText('after', `\n${parts.join('\n\n')}`);
  }
}
