import type { Command, Option } from 'commander';
import { configKeys } from '../../config/config-keys.ts';
import { commandHelp } from './command-help.ts';
import { exitTerms, type Term } from './help-text.ts';

/** Escapes text for roff: it makes no escape and no request, and its dashes can be copied. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('~', '\\(ti').replaceAll('^', '\\(ha');
  return escaped.replaceAll(/^([.'])/gm, '\\&$1');
}

/** A paragraph with a hanging term. */
function tagged([term, meaning]: Term): string {
  return `.TP\n.B ${roff(term)}\n${roff(meaning)}`;
}

function optionTerm({ flags, description, defaultValue }: Option): Term {
  const standard = typeof defaultValue === 'string' ? ` (default: ${defaultValue})` : '';
  return [flags, `${description}${standard}`];
}

function commandSection(command: Command): string {
  const help = commandHelp[command.name()] ?? { examples: [] };
  return [
    `.SS lockstep ${roff(`${command.name()} ${command.usage()}`)}`,
    roff(`${command.description()}.`),
    ...(help.details ?? []).map((paragraph) => `.PP\n${roff(paragraph)}`),
    ...command.options.map((option) => tagged(optionTerm(option))),
    ...command.commands.flatMap((below) => [
      `.PP\n.B ${roff(`lockstep ${command.name()} ${below.name()} ${below.usage()}`)}\n.br\n${roff(`${below.description()}.`)}`,
      ...below.options.map((option) => tagged(optionTerm(option))),
    ]),
    ...help.examples.map(([line, what]) => `.PP\n${roff(what)}:\n.PP\n.RS 4\n.nf\n${roff(line)}\n.fi\n.RE`),
    ...(help.exit === undefined ? [] : ['.PP\nExit codes:', ...exitTerms(help).slice(0, 2).map(tagged)]),
  ].join('\n');
}

const files: readonly Term[] = [
  ['DIR/.lockstep/', "this member's state: never replicated; do not copy it to another machine"],
  ['DIR/.lockstep/config.toml', 'the settings, with a comment for each'],
  ['DIR/.lockstep/cluster.key', 'anyone who has it can join: keep it like a password'],
  ['DIR/.lockstep/identity.key', "this member's identity"],
  ['DIR/.lockstep/journal.db', 'all operations; if lost, it is rebuilt from the folder and the other members'],
  ['DIR/.lockstep/history/', 'replaced and deleted versions'],
  ['DIR/.lockstepignore', 'patterns of paths that are not replicated, in the syntax of .gitignore'],
];

/** The manual page lockstep(1), made from the definition of the commands. */
export function manPage(program: Command, version: string): string {
  const environment = configKeys.map(
    ({ environment: name, comment, list }): Term => [
      name,
      `${comment.join(' ')}${list ? ' Several are joined by commas.' : ''}`,
    ],
  );
  return `${[
    `.TH LOCKSTEP 1 "" "Lockstep ${version}" "User Commands"`,
    '.SH NAME',
    `lockstep \\- ${roff(program.description().replace(/^K/, 'k').replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B lockstep\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIDIR\\fR]',
    '.SH DESCRIPTION',
    roff(
      'Each machine runs an agent that watches its folder, writes every change to a journal and pushes it to all others at once. There ' +
        'is no master, and any machine may be away, slow or new. Edits made on two machines at the same time are both kept.',
    ),
    '.PP',
    roff("DIR is the member's folder or any folder inside it, by default the current one."),
    '.SH COMMANDS',
    ...program.commands.map(commandSection),
    '.SH EXIT STATUS',
    ...exitTerms({ examples: [] }).map(tagged),
    '.SH ENVIRONMENT',
    roff('Settings: each overrides config.toml, and an option overrides both.'),
    ...environment.map(tagged),
    tagged(['NO_COLOR', 'If set, nothing is printed in colour.']),
    tagged(['FORCE_COLOR', 'If 1, colours are printed into a file or pipe too.']),
    '.SH FILES',
    ...files.map(tagged),
    '.SH SEE ALSO',
    '.BR systemd\\-escape (1),\n.BR systemctl (1)',
  ].join('\n')}\n`;
}
