import { expect, test } from 'vitest';
import { completions, runShell, writeCompletion } from './shells.ts';

test('[CL7] fish completes commands, options, words, directories and files', async () => {
  const { cwd, script } = await writeCompletion('fish');
  for (const [line, wanted] of completions) {
    const out = await runShell(
      'fish',
      ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line],
      cwd,
    );
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((candidate) => candidate.split('\t')[0]),
    ).toEqual([wanted]);
  }
});
