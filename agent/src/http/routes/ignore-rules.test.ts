import type { IgnorePreview } from '@lockstep/shared/api';
import { ignoreRuleFor, ignoreRuleOf, withRule } from '@lockstep/shared/present';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { parseIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import { contentOfText } from '../../sim/disk/content.ts';

const file = '.lockstepignore';

describe('[IG10] the rules on the page', () => {
  let served: ServedCluster;
  let app: FastifyInstance;

  beforeEach(async () => {
    served = await ServedCluster.open(['ant', 'bee']);
    app = await served.server();
    await served.write('docs/a.log', 'a');
    await served.write('docs/plan.txt', 'plan');
    await served.write('notes.txt', 'notes');
    await served.write(file, '# ours\nsecret/\n*.tmp\n');
    await served.cluster.until(() => served.engine.context.ignored.ignores('x.tmp', false));
    const user = served.cluster.user('ant');
    user.makeDirectories('secret');
    for (const path of ['secret/key', 'docs/x.tmp']) user.write(path, path, contentOfText(path));
    served.cluster.begin();
  });

  const rules = async () => (await app.inject('/api/v1/ignore-rules')).json();
  const preview = async (text: string): Promise<IgnorePreview> => {
    const answer = await app.inject({ method: 'POST', url: '/api/v1/ignore-rules/preview', payload: { text } });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json();
  };

  test('are read with their version, and written as any file', async () => {
    const { version, ...others } = await rules();
    expect(others).toEqual({ path: file, text: '# ours\nsecret/\n*.tmp\n', isWaiting: false, skipped: [] });
    const url = `/api/v1/files/${file}`;
    const headers = { 'if-match': `"${version}"`, 'content-type': 'text/plain' };
    expect((await app.inject({ method: 'PUT', url, headers, payload: '*.log\n[' })).statusCode).toBe(200);
    expect((await app.inject({ method: 'PUT', url, headers, payload: 'late' })).statusCode).toBe(412);
    await expect.poll(rules, { timeout: 20_000 }).toMatchObject({
      text: '*.log\n[',
      isWaiting: false,
      skipped: [{ line: 2, text: '[', detail: expect.stringMatching(/not closed/) }],
    });
  });

  test('show before a change what will be ignored, of the entries of all members', async () => {
    expect(await preview('# ours\nsecret/\n*.tmp\n/docs/\n')).toEqual({
      ignored: { count: 3, first: ['docs', 'docs/a.log', 'docs/plan.txt'], isPartial: false },
      revealed: { count: 0, first: [], isPartial: false },
      skipped: [],
    });
  });

  test('and what will no longer be, from the disk', async () => {
    expect(await preview('*.log\n[')).toEqual({
      ignored: { count: 1, first: ['docs/a.log'], isPartial: false },
      revealed: { count: 3, first: ['docs/x.tmp', 'secret', 'secret/key'], isPartial: false },
      skipped: [{ line: 2, text: '[', detail: expect.stringMatching(/not closed/) }],
    });
    // Nothing was changed.
    expect(served.engine.context.ignored.ignores('docs/x.tmp', false)).toBe(true);
  });

  test('and say so if the file is not in force', async () => {
    served.cluster.user('ant').write(file, 'zeros', contentOfText('*.log\0'));
    await expect.poll(rules, { timeout: 20_000 }).toMatchObject({ fault: expect.stringMatching(/is not UTF-8 text/) });
  });
});

describe('[IG10] the rule for one path', () => {
  const name = fc
    .string({
      unit: fc.oneof(fc.constantFrom(...'*?[]\\! #^-ab/'), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })),
      minLength: 1,
    })
    .filter((text) => !/[\r\n/]/.test(text) && text !== '.' && text !== '..' && !text.startsWith('.lockstep'));
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));

  test('ignores that path, and no other', () => {
    fc.assert(
      fc.property(path, path, (one, other) => {
        const rule = ignoreRuleFor(one);
        const rules = parseIgnoreRules(withRule('# first', rule ?? expect.fail('no rule')));
        expect(rules.problems).toEqual([]);
        expect(rules.ignores(one, false)).toBe(true);
        if (other !== one && !other.startsWith(`${one}/`)) expect(rules.ignores(other, false)).toBe(false);
        expect(rules.ignores(`${one}x`, false)).toBe(false);
        expect(rules.ignores(`x/${one}`, false)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('does not exist for a name with a line break, nor for a problem that a rule does not end', () => {
    expect(ignoreRuleFor('a\nb')).toBeUndefined();
    expect(ignoreRuleOf({ code: 'path-special', path: 'a\rb' })).toBeUndefined();
    expect(ignoreRuleOf({ code: 'path-not-utf8', path: 'a' })).toBeUndefined();
    expect(ignoreRuleOf({ code: 'path-special', path: 'run/a b ' })).toBe('/run/a b\\ ');
  });

  test('keeps the line ends of the file', () => {
    expect(withRule('a\r\nb', '/c')).toBe('a\r\nb\r\n/c\r\n');
    expect(withRule('', '/c')).toBe('/c\n');
  });
});
