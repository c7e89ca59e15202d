import type { CompletedCommand, Value } from './completion-model.ts';

/** The words of compgen that generate the candidates for `value`. */
function candidates(value: Value): string {
  if (value === 'directory') return 'compgen -d';
  if (value === 'file') return 'compgen -f';
  return value === 'anything' ? 'true' : `compgen -W '${value.join(' ')}'`;
}

function caseOf(command: CompletedCommand): string {
  const valued = command.options.flatMap(({ names, value }) =>
    value === undefined ? [] : `      ${names.join('|')}) __lockstep_from "$current" ${candidates(value)}; return ;;`,
  );
  const previous = valued.length === 0 ? [] : ['    case $previous in', ...valued, '    esac'];
  const options = command.options.flatMap(({ names }) => names.filter((name) => name.startsWith('--')));
  return [
    `  ${command.name})`,
    ...previous,
    `    if [[ $current == -* ]]; then __lockstep_from "$current" compgen -W '${options.join(' ')}'`,
    `    else __lockstep_from "$current" ${candidates(command.argument ?? 'anything')}; fi ;;`,
  ].join('\n');
}

/** A script that completes `lockstep` in bash. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name);
  return `# bash completion for lockstep, made by: lockstep completion bash
_lockstep() {
  __lockstep_from() {
    local word=$1
    shift
    [[ $1 == true ]] && return
    [[ $2 == -[df] ]] && compopt -o filenames 2>/dev/null
    # No mapfile: the bash of macOS has none.
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <("$@" -- "$word")
  }
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ \${COMP_WORDS[index]} == -* ]] && continue
    command=\${COMP_WORDS[index]}
    break
  done
  case $command in
  '') __lockstep_from "$current" compgen -W '${[...names, '--help', '--version'].join(' ')}' ;;
${commands.map(caseOf).join('\n')}
  esac
}
complete -F _lockstep lockstep`;
}
