import { expect, test } from 'vitest';
import { completions, runShell, writeCompletion } from './shells.ts';

/** zsh completes only in its line editor: this one runs on a pseudo-terminal, gets the keys, and prints the resulting line. */
const complete = `
zmodload zsh/zpty
zpty shell 'zsh -f -i'
say() { zpty -w shell "$1"; zpty -r -m shell out "$2" }
say 'PS1=; autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word; print ready-$((1 + 1))' '*ready-2*'
say "source $1; show-line() { print -r -- '<''<'\\$BUFFER'>''>'; BUFFER=; zle -I }; print ready-\\$((1 + 2))" '*ready-3*'
say 'zle -N show-line; bindkey "^X^X" show-line; print ready-$((2 + 2))' '*ready-4*'
for line in "\${@:2}"; do
  zpty -w -n shell "$line"$'\\t'
  zpty -w -n shell $'\\x18\\x18'
  zpty -r -m shell out '*<<*>>*'
  print -r -- "\${\${out##*<<}%%>>*}"
done
zpty -d shell`;

test('[CL7] zsh completes commands, options, words, directories and files', async () => {
  const { cwd, script } = await writeCompletion('zsh');
  const lines = completions.map(([line]) => line);
  const out = await runShell('zsh', ['-f', '-c', complete, 'zsh', script, ...lines], cwd);
  const words = out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(' ').at(-1));
  expect(words).toEqual(completions.map(([, wanted]) => wanted));
});
