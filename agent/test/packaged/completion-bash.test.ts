import { expect, test } from 'vitest';
import { completions, runShell, writeCompletion } from './shells.ts';

/** Completes as readline does: with the words so far, and the index of the word under the cursor. */
const complete = `
source "$1"
for line in "\${@:2}"; do
  read -ra COMP_WORDS <<< "$line"
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _lockstep
  for word in "\${COMPREPLY[@]}"; do [[ -d $word ]] && word+=/; printf '%s ' "$word"; done
  echo
done`;

test('[CL7] bash completes commands, options, words, directories and files', async () => {
  const { cwd, script } = await writeCompletion('bash');
  const lines = completions.map(([line]) => line);
  const out = await runShell('bash', ['--norc', '-c', complete, 'bash', script, ...lines], cwd);
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual(completions.map(([, wanted]) => wanted));
});
