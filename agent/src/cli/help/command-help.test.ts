import { describe, expect, test } from 'vitest';
import { processTerminal } from '../output/terminal.ts';
import { buildProgram } from '../program.ts';
import { commandHelp } from './command-help.ts';
import { manPage } from './man-page.ts';

const program = buildProgram(processTerminal(), () => undefined);
const commands = program.commands.map((command) => ({ name: command.name(), command }));

test('[CL7] every command has its help, and no other', () => {
  expect(Object.keys(commandHelp).sort()).toEqual(commands.map(({ name }) => name).sort());
});

describe.each(commands)('[CL7] the help of $name', ({ name, command }) => {
  test('has examples that the command understands', () => {
    const examples = commandHelp[name]?.examples ?? [];
    expect(examples.length).toBeGreaterThan(0);
    for (const [line] of examples) {
      const [, called, first, ...more] = (line.split(/ &&| >/)[0] ?? '').split(' ');
      expect(called).toBe(name);
      const below = command.commands.find((each) => each.name() === first);
      const { unknown } = (below ?? command).parseOptions([...(below === undefined && first ? [first] : []), ...more]);
      expect(unknown, line).toEqual([]);
    }
  });

  test('is in the manual page, with every option', () => {
    const page = manPage(program, '1.2.3').replaceAll('\\-', '-');
    const begin = page.indexOf(`.SS lockstep ${name} `);
    expect(begin).toBeGreaterThan(0);
    const ends = [page.indexOf('.SS ', begin + 1), page.indexOf('.SH ', begin)].filter((end) => end > 0);
    const section = page.slice(begin, Math.min(...ends));
    for (const { options } of [command, ...command.commands]) {
      for (const { flags } of options) expect(section).toContain(`.B ${flags}\n`);
    }
    for (const below of command.commands) expect(section).toContain(`lockstep ${name} ${below.name()} `);
  });
});
