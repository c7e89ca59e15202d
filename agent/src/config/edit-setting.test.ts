import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { configTemplate } from './config-template.ts';
import { withSetting } from './edit-setting.ts';
import type { ConfigText } from './schema.ts';

describe('[SE2] one setting is changed and every other byte stays', () => {
  const cases: readonly (readonly [string, string, ConfigText | undefined, string])[] = [
    ['a value', 'name = "ant"\nlog_level = "warn"\n', 'info', 'name = "ant"\nlog_level = "info"\n'],
    [
      'a comment at the end',
      'log_level = "warn" # as agreed\nname="a"\n',
      'info',
      'log_level = "info" # as agreed\nname="a"\n',
    ],
    ['a hash in a text', 'log_level = "w#rn"\n', 'info', 'log_level = "info"\n'],
    ['no newline at the end', 'name = "ant"', 'info', 'name = "ant"\nlog_level = "info"\n'],
    ['the key without a newline at the end', 'log_level = "warn"', 'info', 'log_level = "info"\n'],
    [
      'Windows line ends',
      '# c\r\nlog_level = "warn"\r\nname = "ant"\r\n',
      'info',
      '# c\r\nlog_level = "info"\r\nname = "ant"\r\n',
    ],
    [
      'line ends of both kinds',
      '# c\n# d\r\nlog_level = "warn"\nname = "ant"\r\n',
      'info',
      '# c\n# d\r\nlog_level = "info"\nname = "ant"\r\n',
    ],
    ['an absent key', 'name = "ant"\n', 'info', 'name = "ant"\nlog_level = "info"\n'],
    [
      'an absent key with its template',
      '# Level.\n# log_level = "warn"\n\nname = "ant"\n',
      'info',
      '# Level.\n# log_level = "warn"\nlog_level = "info"\n\nname = "ant"\n',
    ],
    ['a key in quotes', '"log_level" = \'warn\'\n', 'info', 'log_level = "info"\n'],
    [
      'a text over several lines',
      'log_level = """\nlog_level = "a"\nwarn"""\nname = "ant"\n',
      'info',
      'log_level = "info"\nname = "ant"\n',
    ],
    [
      'a line of another text that looks like the key',
      'name = """\nlog_level = "x"\n"""\nlog_level = "warn"\n',
      'info',
      'name = """\nlog_level = "x"\n"""\nlog_level = "info"\n',
    ],
    [
      'a list',
      'log_level = [ # both\n  "a", # first\n  "b#c",\n] # end\nname = "ant"\n',
      ['x', 'y'],
      '# both\n# first\nlog_level = ["x", "y"] # end\nname = "ant"\n',
    ],
    [
      'a value that is taken out',
      '# log_level = "warn"\nlog_level = "info"\nname = "ant"\n',
      undefined,
      '# log_level = "warn"\nname = "ant"\n',
    ],
    [
      'a value with a comment that is taken out',
      'log_level = "info" # why\nname = "ant"\n',
      undefined,
      '# why\nname = "ant"\n',
    ],
    ['an absent value that is taken out', 'name = "ant"\n', undefined, 'name = "ant"\n'],
    ['a value with quotes', 'log_level = "warn"\n', 'a"b\\c\nd', 'log_level = "a\\"b\\\\c\\nd"\n'],
    ['an empty file', '', 'info', 'log_level = "info"\n'],
  ];
  test.each(cases)('%s', (_name, text, value, expected) => {
    expect(withSetting(text, 'log_level', value)).toBe(expected);
  });

  test.each([
    ['a table before the end of the file', 'name = "ant"\n[colours]\nred = "1"\n'],
    ['a key with a dot', 'log_level.a = "x"\nlog_level.b = "y"\n'],
  ])('%s is left to a person', (_name, text) => {
    expect(() => withSetting(text, 'log_level', 'info')).toThrow(/^log_level cannot be changed here/);
  });

  test('whatever the value, it is read back, and taken out again', () => {
    const template = configTemplate({ name: 'ant', peers: ['bee:4700', 'cat:4700'] });
    const anyText = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.oneof(anyText, fc.array(anyText)), fc.constantFrom('peers', 'log_level', 'name'), (value, key) => {
        const text = withSetting(template, key, value);
        expect(parse(text)).toEqual({ ...parse(template), [key]: value });
        const { [key]: _gone, ...others } = parse(template);
        expect(parse(withSetting(text, key, undefined))).toEqual(others);
      }),
    );
  });
});
