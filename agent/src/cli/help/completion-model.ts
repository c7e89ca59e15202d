import type { Command, Option } from 'commander';
import { logLevels } from '../../config/schema.ts';

/** What stands in a place of the command line: a name of the file system, a directory, one of some words, or anything. */
export type Value = 'file' | 'directory' | 'anything' | readonly string[];

export interface CompletedOption {
  /** With their dashes, the long one first. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for an option that takes none. */
  readonly value: Value | undefined;
  /** As `--help` shows it. */
  readonly placeholder: string;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** What its argument is; undefined when it takes none. */
  readonly argument: Value | undefined;
}

function completedValue(placeholder: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return choices;
  if (placeholder === 'LEVEL') return logLevels;
  if (placeholder === 'DIR') return 'directory';
  return placeholder === 'FILE' || placeholder === 'PATH' ? 'file' : 'anything';
}

function completedOption(option: Option): CompletedOption {
  const { long, short, description, flags, argChoices, required, optional } = option;
  const placeholder = /[<[]([^\]>]+)[\]>]/.exec(flags)?.[1] ?? '';
  const names = [long, short].flatMap((name) => name ?? []);
  return {
    names,
    description,
    placeholder,
    value: required || optional ? completedValue(placeholder, argChoices) : undefined,
  };
}

const help: CompletedOption = {
  names: ['--help', '-h'],
  description: 'display help for command',
  placeholder: '',
  value: undefined,
};

/** The commands of `program` as its own definition has them, for the scripts that complete them. */
export function completedCommands(program: Command): readonly CompletedCommand[] {
  const commands = program.commands.map((command): CompletedCommand => {
    const [argument] = command.registeredArguments;
    return {
      name: command.name(),
      description: command.description(),
      options: [...command.options.map(completedOption), help],
      argument: argument === undefined ? undefined : completedValue(argument.name(), argument.argChoices),
    };
  });
  const names = commands.map(({ name }) => name);
  return [...commands, { name: 'help', description: 'display help for command', options: [], argument: names }];
}
