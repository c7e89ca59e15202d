import type { CompletedCommand, CompletedOption, Value } from './completion-model.ts';

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

/** The options of fish's `complete` for this kind of value. */
function candidates(value: Value): string {
  if (value === 'directory') return "-xa '(__fish_complete_directories)'";
  if (value === 'file') return '-rF';
  return value === 'anything' ? '-x' : `-xa ${quoted(value.join(' '))}`;
}

function optionLine(condition: string, { names, description, value }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const takes = value === undefined ? [] : [candidates(value)];
  return ['complete -c lockstep', condition, ...flags, ...takes, '-d', quoted(description)].join(' ');
}

function linesOf({ name, options, argument }: CompletedCommand): readonly string[] {
  const condition = `-n '__fish_seen_subcommand_from ${name}'`;
  const own = options.map((option) => optionLine(condition, option));
  // File names are not completed unless a command takes them.
  const wanted =
    argument === undefined || argument === 'anything'
      ? []
      : [`complete -c lockstep ${condition} ${candidates(argument)}`];
  return [...own, ...wanted];
}

/** A script that completes `lockstep` in fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const first = commands.map(
    ({ name, description }) => `complete -c lockstep -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
  );
  return [
    '# fish completion for lockstep, made by: lockstep completion fish',
    'complete -c lockstep -f',
    ...first,
    ...commands.flatMap(linesOf),
  ].join('\n');
}
