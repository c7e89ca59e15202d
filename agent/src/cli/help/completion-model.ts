import type { Command, Option } from 'commander';
import { logLevels } from '../../config/schema.ts';

/** The kind of a value on the command line: a file name, a directory, one of some words, or anything. */
export type Value = 'file' | 'directory' | 'anything' | readonly string[];

export interface CompletedOption {
  /** The names with their dashes, the long one first. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value: Value | undefined;
  /** As `--help` shows it. */
  readonly placeholder: string;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** The kind of its argument; undefined if it takes none. */
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

/** The commands of `program`, from its own definition, for the completion scripts. */
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
