import type { CompletedCommand, CompletedOption, Value } from './completion-model.ts';

/** Escapes text inside single quotes for _arguments, which reads brackets and colons as separators. */
function quoted(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll(/[[\]:]/g, '\\$&')
    .replaceAll("'", "'\\''");
}

function action(value: Value): string {
  if (value === 'directory') return '_files -/';
  if (value === 'file') return '_files';
  return value === 'anything' ? '' : `(${value.join(' ')})`;
}

function optionSpec({ names, description, value, placeholder }: CompletedOption): readonly string[] {
  const takes = value === undefined ? '' : `:${quoted(placeholder)}:${action(value)}`;
  return names.map((name) => `'*${name}[${quoted(description)}]${takes}'`);
}

function caseOf({ name, options, argument }: CompletedCommand): string {
  const specs = options.flatMap(optionSpec);
  if (argument !== undefined) specs.push(`'1:argument:${action(argument)}'`);
  return `      ${name}) _arguments ${specs.join(' \\\n        ')} ;;`;
}

/** A script that completes `lockstep` in zsh: a file in fpath, or one to be sourced. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, description }) => `    '${name}:${quoted(description)}'`);
  return `#compdef lockstep
# zsh completion for lockstep, made by: lockstep completion zsh
_lockstep() {
  local context state line
  local -a commands=(
${described.join('\n')}
  )
  _arguments -C '--help[display help]' '--version[print the version]' '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
${commands.map(caseOf).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _lockstep ]]; then _lockstep "$@"; else compdef _lockstep lockstep; fi`;
}
