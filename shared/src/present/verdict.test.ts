import { expect, test } from 'vitest';
import type { MemberReport, Status } from '../api.ts';
import { member, status } from './_cluster.ts';
import { clusterVerdict } from './verdict.ts';

const ant = member('ant');
const bee = member('bee');
const cat = member('cat');
const dog = member('dog');

/** A time long after all of them took their states. */
const now = 60_000;

function rtts(...members: readonly MemberReport[]): Record<string, number> {
  return Object.fromEntries(members.map(({ id }) => [id, 1]));
}

const away = { state: 'down', condition: 'down', connected: false, rttMs: null } as const;
const downCat = member('cat', { ...away, behind: 7 });
const downBee = member('bee', away);
const pausedCat: MemberReport = { ...downCat, condition: 'paused' };
const shutCat: MemberReport = { ...downCat, condition: 'shut-down' };
const awayCat: MemberReport = { ...downCat, condition: 'away', mayBeAway: true, behind: 0 };
const fullCat = member('cat', { behind: 1_204, problems: 1, worstProblem: 'disk-full' });
const refused = {
  problems: [{ code: 'member-refused', member: 'bee:4700', detail: 'Its key is another one.', since: 0 }],
  problemCount: 1,
} satisfies Partial<Status>;
const progress = { there: 145_000_000, total: 436_000_000, bytesPerSecond: 3_200_000, secondsLeft: 91 };
const syncing = (done: number) =>
  member('cat', { state: 'syncing', condition: 'syncing', behind: 9, catchUp: { source: ant.id, done, total: 1_204 } });

test.each<[string, string, Status]>([
  ['good', 'All 3 members hold everything.', status([ant, bee, cat])],
  ['good', 'Both members hold everything.', status([ant, bee])],
  [
    'good',
    'Both members hold everything.',
    status([ant, bee, member('cat', { state: 'left', condition: 'left', behind: 5 })]),
  ],
  ['good', 'ant holds everything; bee fetches contents on demand.', status([ant, { ...bee, onDemand: true }])],
  [
    'good',
    'ant and bee hold everything; cat fetches contents on demand.',
    status([ant, bee, { ...cat, onDemand: true }]),
  ],
  [
    'good',
    'Both members know everything, and none has the whole folder.',
    status([
      { ...ant, onDemand: true },
      { ...bee, onDemand: true },
    ]),
  ],
  ['bad', 'cat is down; the other two are up to date.', status([ant, { ...bee, onDemand: true }, downCat])],
  [
    'bad',
    'cat is down; bee fetches 12 copies with 3 MB.',
    status([
      ant,
      { ...bee, onDemand: true, lackingCopies: { files: 12, bytes: 3_000_000, isFull: false, isUnavailable: false } },
      downCat,
    ]),
  ],
  [
    'held',
    '3 copies of films/ are wanted, and only 2 members can keep one now.',
    status([ant, bee], { shortRules: [{ pattern: 'films/', wanted: 3, able: 2 }] }),
  ],
  ['held', '1 conflict waits for a choice.', status([ant, bee], { conflictCopies: 1 })],
  ['held', '3 conflicts wait for a choice.', status([ant, bee], { conflictCopies: 3 })],
  ['held', '1 conflict waits for a choice.', status([ant, bee], { conflictCopies: 1, synchronised: false })],
  [
    'held',
    '1 conflict waits for a choice; bee is 12 operations behind.',
    status([ant, { ...bee, behind: 12 }], { conflictCopies: 1, synchronised: false }),
  ],
  ['good', 'ant is alone and waits for others.', status([ant])],
  ['bad', 'cat is down; the other two hold everything.', status([ant, bee, downCat])],
  [
    'bad',
    'cat is down; bee has 1 problem: disk full; ant and bee hold everything.',
    status([ant, member('bee', { problems: 1, worstProblem: 'disk-full' }), downCat]),
  ],
  ['bad', 'cat is down.', status([ant, member('bee', { behind: 1 }), downCat])],
  ['bad', 'cat is down.', status([ant, downCat])],
  ['bad', 'bee and cat are down.', status([ant, downBee, downCat, member('dog', { behind: 1 })])],
  ['held', 'cat is paused; the other two hold everything.', status([ant, bee, pausedCat])],
  ['bad', 'bee is down; cat is paused.', status([ant, downBee, pausedCat, member('dog', { behind: 1 })])],
  [
    'held',
    'ant is paused: it takes nothing from the others and gives them nothing until it is resumed.',
    status([ant, downBee, downCat], { paused: true, synchronised: false }),
  ],
  [
    'held',
    'ant is paused: it takes nothing from the others and gives them nothing until it is resumed; 2 conflicts wait for a choice.',
    status([ant, downBee], { paused: true, synchronised: false, conflictCopies: 2 }),
  ],
  ['held', 'cat is shut down; the other two hold everything.', status([ant, bee, shutCat])],
  ['good', 'cat is away; the other two hold everything.', status([ant, bee, awayCat])],
  [
    'good',
    'cat is away, 7 operations behind; the other two hold everything.',
    status([ant, bee, { ...awayCat, behind: 7 }]),
  ],
  ['good', 'cat is away.', status([ant, awayCat])],
  ['good', 'bee and cat are away.', status([ant, { ...downBee, condition: 'away' }, { ...awayCat, behind: 7 }])],
  [
    'good',
    'cat is away, and has changes that ant does not know yet.',
    status([ant, bee, { ...awayCat, version: { c: 3 } }], { synchronised: false }),
  ],
  ['busy', 'bee is 3 operations behind; cat is away.', status([ant, member('bee', { behind: 3 }), awayCat])],
  ['busy', '1 file on the way to ant; cat is away.', status([ant, bee, awayCat], { pending: 1, synchronised: false })],
  ['bad', 'bee is down; cat is away.', status([ant, downBee, awayCat])],
  [
    'held',
    '1 conflict waits for a choice; cat is away; the other two hold everything.',
    status([ant, bee, awayCat], { conflictCopies: 1 }),
  ],
  ['bad', 'ant does not hear bee or cat: it may be cut off.', status([ant, downBee, downCat])],
  ['held', 'bee and cat are shut down.', status([ant, { ...downBee, condition: 'shut-down' }, shutCat])],
  [
    'bad',
    '5 members are down; the other two hold everything.',
    status([ant, bee, ...['c', 'd', 'e', 'f', 'g'].map((name) => ({ ...downBee, name }))]),
  ],
  [
    'bad',
    'bee is down; dog is 3 operations behind; cat is shut down.',
    status([ant, downBee, shutCat, member('dog', { behind: 3, problems: 1 })]),
  ],
  [
    'bad',
    'bee is down; cat is 1,204 operations behind: disk full; dog has problems too.',
    status([ant, downBee, fullCat, { ...fullCat, id: 'dog', name: 'dog' }]),
  ],
  ['bad', 'ant has 2 problems: disk full.', status([{ ...ant, worstProblem: 'disk-full' }, bee], { problemCount: 2 })],
  [
    'bad',
    'bee has 2 problems, disk full the worst.',
    status([ant, member('bee', { problems: 2, worstProblem: 'disk-full' })]),
  ],
  ['bad', 'bee has 1 problem.', status([ant, member('bee', { problems: 1 })])],
  ['bad', 'cat is 1,204 operations behind: disk full.', status([ant, bee, fullCat])],
  [
    'bad',
    'cat is 1,204 operations behind: disk full; bee has problems too.',
    status([ant, member('bee', { problems: 3 }), fullCat]),
  ],
  [
    'held',
    'bee and cat are cut off from each other, and ant reaches both.',
    status(
      [
        { ...ant, latenciesMs: rtts(bee, cat) },
        { ...bee, latenciesMs: rtts(ant) },
        { ...cat, latenciesMs: rtts(ant) },
      ],
      { now },
    ),
  ],
  [
    'held',
    'ant and cat are cut off from each other, and bee reaches both.',
    status(
      [
        { ...ant, latenciesMs: rtts(bee) },
        { ...bee, latenciesMs: rtts(ant, cat) },
        { ...cat, condition: 'cut-off', connected: false, via: 'bee', latenciesMs: rtts(bee) },
      ],
      { now },
    ),
  ],
  [
    'held',
    '3 pairs of members are cut off from each other.',
    status(
      [
        { ...ant, latenciesMs: rtts(bee, cat, dog) },
        { ...bee, latenciesMs: rtts(ant) },
        { ...cat, latenciesMs: rtts(ant) },
        { ...dog, latenciesMs: rtts(ant) },
      ],
      { now },
    ),
  ],
  ['busy', 'bee is silent.', status([ant, member('bee', { state: 'suspect', condition: 'silent' })])],
  ['busy', 'cat is catching up: 300 of 1,204 operations.', status([ant, bee, syncing(300)])],
  ['busy', 'cat is catching up: 145 MB of 436 MB, 1 min left.', status([ant, bee, { ...syncing(300), progress }])],
  [
    'busy',
    'bee and cat are catching up.',
    status([ant, member('bee', { state: 'joining', condition: 'joining' }), syncing(1)]),
  ],
  [
    'bad',
    'dog is down; cat is paused; 6 conflicts wait for a choice; bee is catching up.',
    status(
      [
        ant,
        member('bee', { state: 'syncing', condition: 'syncing' }),
        pausedCat,
        { ...downBee, id: 'dog', name: 'dog' },
      ],
      { conflictCopies: 6 },
    ),
  ],
  [
    'held',
    'bee has 1 problem: not a file.',
    status([ant, member('bee', { problems: 1, worstProblem: 'path-special' }), cat]),
  ],
  [
    'held',
    'bee and cat have problems.',
    status([
      ant,
      member('bee', { problems: 1, worstProblem: 'path-special' }),
      member('cat', { problems: 1, worstProblem: 'ignore-rule' }),
    ]),
  ],
  [
    'busy',
    'ant was just started: bee and cat have not answered yet.',
    status([ant, { ...downBee, condition: 'unknown' }, { ...downCat, condition: 'unknown' }]),
  ],
  ['busy', '1 file has conflicting versions; copies are on the way.', status([ant, bee], { conflicts: 1 })],
  ['busy', 'bee is 12 operations behind.', status([ant, member('bee', { behind: 12 })])],
  [
    'busy',
    'bee is 1 operation behind: 145 MB of 436 MB, 1 min left.',
    status([ant, member('bee', { behind: 1, progress })]),
  ],
  [
    'busy',
    '2 members are behind, cat most: 20 operations.',
    status([ant, member('bee', { behind: 1 }), member('cat', { behind: 20 })]),
  ],
  [
    'busy',
    'bee and cat are 7 operations behind.',
    status([ant, member('bee', { behind: 7 }), member('cat', { behind: 7 })]),
  ],
  ['busy', '1,204 files on the way to ant.', status([ant, bee], { pending: 1_204 })],
  ['busy', 'Changes are on their way.', status([ant, bee], { synchronised: false })],
  [
    'busy',
    'bee has changes that ant does not know yet.',
    status([ant, member('bee', { version: { o: 2 } }), member('cat', { version: { o: 1 } })], {
      synchronised: false,
      version: { o: 1 },
    }),
  ],
  [
    'bad',
    'ant was removed from the cluster by bee: the others refuse it, and its files are no longer replicated.',
    status([
      ant,
      { ...downBee, lastError: 'Removed from the cluster by bee; to take it back, run there: lockstep …' },
      downCat,
    ]),
  ],
  ['bad', 'Every member that ant reached refuses it.', status([ant], { synchronised: false, ...refused })],
  ['bad', 'Every member that ant reached refuses it.', status([ant, downBee, downCat], refused)],
  ['bad', 'ant has 1 problem: connection refused.', status([{ ...ant, worstProblem: 'member-refused' }, bee], refused)],
  [
    'bad',
    'ant has left the cluster. Its files stay and are no longer replicated.',
    status([ant, bee], { member: { ...status([]).member, state: 'left' } }),
  ],
])('[DB-A1] [CL9] %s: %s', (tone, text, input) => {
  expect(clusterVerdict(input)).toMatchObject({ tone, text });
});

test('[DB-A1] each part of the sentence has the view in which a person sees more of it', () => {
  const withProblems = status(
    [
      ant,
      { ...downBee, id: 'dog', name: 'dog' },
      pausedCat,
      member('bee', { problems: 1, worstProblem: 'path-special' }),
    ],
    { conflictCopies: 2 },
  );
  expect(clusterVerdict(withProblems).parts).toEqual([
    { tone: 'bad', text: 'dog is down', about: { view: 'member', id: 'dog' } },
    { tone: 'held', text: 'cat is paused', about: { view: 'member', id: 'cat' } },
    { tone: 'held', text: 'bee has 1 problem: not a file', about: { view: 'member', id: 'bee' } },
    { tone: 'held', text: '2 conflicts wait for a choice', about: { view: 'conflicts' } },
  ]);
});
