import { describe, expect, test } from 'vitest';
import type { MemberReport } from '../api.ts';
import { member as anyMember } from './_cluster.ts';
import { describeWay, latencyMatrix as matrixOf, matrixSentence, whoReachesBoth } from './latency-matrix.ts';

function member(name: string, latenciesMs?: Record<string, number>, more: Partial<MemberReport> = {}): MemberReport {
  return anyMember(name, { connected: latenciesMs !== undefined, rttMs: null, latenciesMs, ...more });
}

const ant = (latenciesMs: Record<string, number>) => member('ant', latenciesMs);

function latencyMatrix(members: readonly MemberReport[], now = 60_000) {
  return matrixOf({ members, now });
}

/** The rows in words: the measuring member comes first. */
function words(members: readonly MemberReport[]): string[][] {
  return latencyMatrix(members).rows.map((row) => row.map(describeWay));
}

describe('[DB-L1] the matrix', () => {
  test('all reach all', () => {
    const members = [
      ant({ bee: 0.4, cat: 23 }),
      member('bee', { ant: 0.5, cat: 1_234 }),
      member('cat', { ant: 22, bee: 80 }),
    ];
    expect(words(members)).toEqual([
      ['itself', '0.4 ms', '23 ms'],
      ['0.5 ms', 'itself', '1.2 s'],
      ['22 ms', '80 ms', 'itself'],
    ]);
    expect(matrixSentence(latencyMatrix(members))).toBe(
      'Half of the round trips take 22 ms or less, the longest 1.2 s (bee to cat).',
    );
  });

  test('[DB-L2] a member that the asked one has not heard yet, and that no other one reaches, is no cut-off pair', () => {
    const cat = member('cat', undefined, { connected: false, condition: 'unknown' });
    expect(words([ant({ bee: 1 }), member('bee', { ant: 1 }), cat]).flat()).not.toContain('cut off');
  });

  test('[DB-L2] a member that is down is no cut-off pair', () => {
    const down = member('cat', undefined, { state: 'down', condition: 'down' });
    expect(words([ant({ bee: 1 }), member('bee', { ant: 1 }), down])).toEqual([
      ['itself', '1 ms', 'cat is down'],
      ['1 ms', 'itself', 'cat is down'],
      ['cat is down', 'cat is down', 'itself'],
    ]);
  });

  test('[DB-L2] a member that announced that it goes is paused or shut down, whatever others still measured', () => {
    const paused = member('cat', undefined, { state: 'down', condition: 'paused' });
    const shutDown = member('cat', undefined, { state: 'down', condition: 'shut-down' });
    const others = [ant({ bee: 1 }), member('bee', { ant: 1 })];
    expect(words([...others, paused])[0]?.[2]).toBe('cat is paused');
    expect(words([...others, shutDown])[0]?.[2]).toBe('cat is shut down');
  });

  test('[DB-L2] two that are up and reached by a third are cut off from each other, in both directions, listed once', () => {
    const members = [ant({ bee: 1, cat: 1 }), member('bee', { ant: 1 }), member('cat', { ant: 1 })];
    expect(words(members)[1]).toEqual(['1 ms', 'itself', 'cut off']);
    expect(words(members)[2]).toEqual(['1 ms', 'cut off', 'itself']);
    const matrix = latencyMatrix(members);
    expect(matrix.cut.map(({ from, to }) => [from.name, to.name])).toEqual([['bee', 'cat']]);
    expect(matrix.cut.map((pair) => whoReachesBoth(matrix, pair))).toEqual(['ant reaches']);
    expect(matrixSentence(matrix)).toMatch(/^bee and cat are cut off from each other\. /);
  });

  test('[DB-L2] the asked member is cut off itself: another one passes on the measurements of the member behind the cut', () => {
    const members = [
      ant({ bee: 1 }),
      member('bee', { ant: 1, cat: 2 }),
      member('cat', { bee: 2 }, { connected: false, condition: 'cut-off', via: 'bee' }),
      member('dog', { ant: 1 }),
    ];
    const rows = words(members);
    expect(rows[0]?.[2]).toBe('cut off');
    expect(rows[1]?.[2]).toBe('2 ms');
    expect(rows[2]?.[0]).toBe('cut off');
    expect(rows[2]?.[1]).toBe('2 ms');
  });

  test('a session without a measurement is no cut, nor is a member that has only begun', () => {
    const fresh = member('bee', undefined, { connected: true });
    expect(words([ant({}), fresh, member('cat', { bee: 1 })])[0]?.[1]).toBe('not known');
    for (const state of ['joining', 'syncing'] as const) {
      const newcomer = member('cat', { ant: 1 }, { state });
      expect(words([ant({ bee: 1, cat: 1 }), member('bee', { ant: 1 }), newcomer])[1]?.[2]).toBe('not known');
    }
  });

  test('[DB-L2] old measurements of a silent member do not prove that another one is up', () => {
    const silent = member('bee', { ant: 1, cat: 1 }, { state: 'suspect', condition: 'silent' });
    const down = member('cat', undefined, { state: 'down', condition: 'down' });
    expect(words([ant({ bee: 1 }), silent, down])).toEqual([
      ['itself', '1 ms', 'cat is down'],
      ['not known', 'itself', 'cat is down'],
      ['cat is down', 'cat is down', 'itself'],
    ]);
  });

  test('[DB-L2] a member that returned a moment ago has not connected to all yet: that is no cut', () => {
    const members = [
      ant({ bee: 1, cat: 1 }),
      member('bee', { ant: 1 }),
      member('cat', { ant: 1 }, { stateSince: 58_000 }),
    ];
    expect(latencyMatrix(members, 60_000).cut).toEqual([]);
    expect(latencyMatrix(members, 64_000).cut).toHaveLength(1);
  });

  test('members that have left are not in it', () => {
    const { members } = latencyMatrix([ant({}), member('bee', undefined, { state: 'left', condition: 'left' })]);
    expect(members.map(({ name }) => name)).toEqual(['ant']);
    expect(matrixSentence(latencyMatrix(members))).toBe('No round trip is known now.');
  });
});
