import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { virtualContent } from '../../sim/disk/content.ts';

const mebibyte = 1_048_576;
const minuteMs = 60_000;

// Simulator, seed 29056: each attempt wrote rows into the journal, without end.
test('[OD5] a file on a disk that is mounted in the folder is tried once, and not again for an hour', async () => {
  const bee = new ScriptedPeer('b');
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
  };
  const { engine, journal, volume, until } = openTestMember([bee], { onDemand: true });
  const attempts: string[] = [];
  const recordDisk = journal.disk.record.bind(journal.disk);
  journal.disk.record = (changes) => {
    for (const { path, entry } of changes) if (entry?.remote) attempts.push(path);
    recordDisk(changes);
  };
  volume.disk.mkdir('disk');
  const root = volume.disk.newDevice();
  volume.devices.push(root);
  volume.disk.mount('disk', root);
  volume.disk.write('disk/film', virtualContent('film', mebibyte));
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => attempts.includes('disk/film') && attempts.includes('song'), 5 * minuteMs)).toBe(true);
  await until(() => false, 30 * minuteMs);
  expect(attempts.toSorted()).toEqual(['disk/film', 'song']);
  expect(volume.disk.at('disk/film')).toBeDefined();
  expect(volume.disk.at('song')).toBeUndefined();
  expect(await until(() => attempts.length > 2, 60 * minuteMs)).toBe(true);
  expect(attempts.at(-1)).toBe('disk/film');
});

test('[OD5] once all files fitted, the next one that does not is tried to be dropped at once', async () => {
  const bee = new ScriptedPeer('b');
  let questions = 0;
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    questions++;
    bee.say({ type: 'missing', id: message.id, lacks: true, shows: true });
  };
  const { engine, volume, until } = openTestMember([bee], { onDemand: true });
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => questions >= 8, 20 * minuteMs)).toBe(true);
  engine.cache.room.limit({ bytes: 2 * mebibyte });
  await until(() => false, 2_000);
  const before = questions;
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => questions > before, 3_000)).toBe(true);
});

// Simulator, seed 79578: the file was deleted on all members.
test('[OD5] a file that was removed by a drop that failed in the end is dropped, and not deleted', async () => {
  const bee = new ScriptedPeer('b');
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
  };
  const { engine, journal, volume, until } = openTestMember([bee], { onDemand: true });
  const { folder } = engine.context;
  const apply = folder.apply.bind(folder);
  folder.apply = async (requests) => {
    const results = await apply(requests);
    const problem = { result: 'problem', code: 'path-inaccessible', detail: 'The disk failed.' } as const;
    return requests.map(({ action }, index) => (action.do === 'unlink' ? problem : results[index])) as typeof results;
  };
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => volume.disk.at('song') === undefined, 5 * minuteMs)).toBe(true);
  await until(() => false, 30 * minuteMs);
  expect(journal.heads.at('song')).toMatchObject([{ kind: 'put' }]);
  expect(journal.disk.at('song')).toMatchObject({ remote: true });
});

// Simulator, seed 152846: another member deleted the file before it was examined, and it was published as a new one.
test('[OD5] a file that could not be dropped is deleted when another member deletes it', async () => {
  const bee = new ScriptedPeer('b');
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
  };
  const { engine, journal, volume, until } = openTestMember([bee], { onDemand: true });
  const { folder } = engine.context;
  const apply = folder.apply.bind(folder);
  folder.apply = (requests) => {
    if (requests.some(({ action }) => action.do === 'unlink')) volume.missing = true;
    return apply(requests);
  };
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => volume.missing, 5 * minuteMs)).toBe(true);
  folder.apply = apply;
  const [song] = journal.heads.at('song') as [Operation];
  const { origin } = bee;
  bee.sayOperations([
    {
      origin,
      seq: 1,
      hlc: song.hlc + 1,
      kind: 'delete',
      path: 'song',
      version: { vector: { ...song.version.vector, [origin]: 1 } },
    },
  ]);
  expect(await until(() => journal.heads.at('song')[0]?.kind === 'delete', minuteMs)).toBe(true);
  volume.missing = false;
  expect(await until(() => volume.disk.at('song') === undefined, 5 * minuteMs)).toBe(true);
  expect(journal.heads.at('song')).toMatchObject([{ origin, kind: 'delete' }]);
});

// Simulator, seeds 52314 and 67984: each reader asked about each file twice a second.
test('[OD5] however many readers wait for room, the others are asked about a file less and less often', async () => {
  const bee = new ScriptedPeer('b');
  let questions = 0;
  let lacks = true;
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    questions++;
    bee.say({ type: 'missing', id: message.id, lacks, shows: true });
  };
  const { engine, volume, until } = openTestMember([bee], { onDemand: true });
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => questions > 0, minuteMs)).toBe(true);
  engine.cache.room.limit({ bytes: mebibyte });

  const refused: string[] = [];
  let lastWithRoom = '';
  let waiting = 0;
  const wait = async (path: string): Promise<void> => {
    waiting++;
    const reserved = await engine.cache.reserve(path, 1_000);
    waiting--;
    if ('reason' in reserved) refused.push(path);
    else lastWithRoom = path;
  };
  questions = 0;
  for (const path of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) void wait(path);
  expect(await until(() => refused.length === 8, minuteMs)).toBe(true);
  expect(questions).toBeLessThan(25);

  lacks = false;
  // One reader after the other, until the last pause is over.
  let later = 0;
  const hasRoom = (): boolean => {
    if (waiting === 0 && lastWithRoom === '') void wait(`later-${++later}`);
    return lastWithRoom !== '';
  };
  expect(await until(hasRoom, 5_000)).toBe(true);
  expect(lastWithRoom).toBe(`later-${later}`);
  expect(volume.disk.at('song')).toBeUndefined();
});

test('[OD24] a reader is refused within seconds, the next one in less than one, and both have room as soon as there is some', async () => {
  const bee = new ScriptedPeer('b');
  let lacks = true;
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks, shows: true });
  };
  const { engine, volume, until } = openTestMember([bee], { onDemand: true });
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: mebibyte });
  expect(await until(() => engine.cache.room.usedBytes === mebibyte, minuteMs)).toBe(true);
  const tell = async (): Promise<void> => {
    const reserved = await engine.cache.reserve('a', 1_000);
    answers.push('reason' in reserved ? 'refused' : 'room');
  };
  const answers: string[] = [];
  void tell();
  expect(await until(() => answers.length === 1, 6_000)).toBe(true);
  void tell();
  expect(await until(() => answers.length === 2, 1_000)).toBe(true);
  expect(answers).toEqual(['refused', 'refused']);
  lacks = false;
  await until(() => false, 2_000);
  void tell();
  expect(await until(() => answers.length === 3, 1_000)).toBe(true);
  expect(answers.at(-1)).toBe('room');
});

test('[OD23] what programs write through a mount counts as used, and leaves no room for it at once if all must stay', async () => {
  const bee = new ScriptedPeer('b');
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
  };
  const { engine, volume, until } = openTestMember([bee], { onDemand: true });
  const { problems } = engine.context;
  for (const name of ['song', 'kept']) volume.disk.write(name, virtualContent(name, mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: 3 * mebibyte });
  engine.context.wanted.pins = ['kept'];
  expect(await until(() => engine.cache.room.usedBytes === 2 * mebibyte, minuteMs)).toBe(true);
  const room = engine.cache.room.openDrafts();
  const answers: (string | undefined)[] = [];
  const grow = async (bytes: number, wished: number, path = 'film'): Promise<void> => {
    answers.push(await engine.cache.growDrafts(room, path, { bytes, wished }));
  };
  void grow(1_000, 4 * mebibyte);
  expect(await until(() => room.bytes === 1_000, 1_000)).toBe(true);
  // Another file is dropped for it.
  void grow(2 * mebibyte - 1_000, 0);
  expect(await until(() => volume.disk.at('song') === undefined, minuteMs)).toBe(true);
  expect(await until(() => engine.cache.room.usedBytes === 3 * mebibyte, 1_000)).toBe(true);
  void grow(1, 0);
  void grow(4 * mebibyte, 0);
  expect(await until(() => answers.length === 4, 100)).toBe(true);
  expect(answers.slice(0, 2)).toEqual([undefined, undefined]);
  expect(answers[2]).toContain('There is no room for film: what is in the cache must stay');
  expect(answers[3]).toContain('programs write 6.3 MB through the mount, and the whole cache has room for 3.1 MB');
  expect(problems.ofPath('film')?.detail).toContain('A program could not write');
  expect(answers[2]).not.toContain('old version');
  void grow(1, 0, 'kept');
  expect(await until(() => answers.length === 5, 100)).toBe(true);
  expect(answers[4]).toContain(
    'Its old version of 1 MB stays until the changed one is closed: a change needs room for both.',
  );
  room.lower(mebibyte);
  expect(engine.cache.room.usedBytes).toBe(2 * mebibyte);
  engine.cache.room.closeDrafts(room);
  expect(engine.cache.room.usedBytes).toBe(mebibyte);
});

test('[OD2] [OD24] a reader is refused within 10 s if a member does not answer about many files that could make room', async () => {
  const { engine, volume, until } = openTestMember([new ScriptedPeer('b')], { onDemand: true });
  for (let index = 0; index < 1_280; index++)
    volume.disk.write(`song-${index}`, virtualContent(`song-${index}`, mebibyte));
  void engine.start();
  engine.cache.room.limit({ bytes: 1_280 * mebibyte });
  expect(await until(() => engine.cache.room.usedBytes === 1_280 * mebibyte, minuteMs)).toBe(true);
  // By then all are durable.
  await until(() => false, 10_000);
  const answers: string[] = [];
  void engine.cache.reserve('film', 1_279 * mebibyte).then((reserved) => {
    answers.push('reason' in reserved ? 'refused' : 'room');
  });
  expect(await until(() => answers.length === 1, 8_000)).toBe(true);
  expect(answers).toEqual(['refused']);
});

/** A member on demand whose cache is full of its own file, which the only other member, `bee`, lacks. Unless `hasLost`, that has `song`. */
async function openWithFullCache({ hasLost = false } = {}) {
  const bee = new ScriptedPeer('b');
  let lacks = false;
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    bee.say({ type: 'missing', id: message.id, lacks: lacks && (hasLost || message.path !== 'song'), shows: true });
  };
  const { engine, journal, volume, until } = openTestMember([bee], { onDemand: true });
  const { cache, onDemand, peers } = engine;
  volume.disk.write('song', virtualContent('song', mebibyte));
  void engine.start();
  cache.room.limit({ bytes: mebibyte / 2 });
  expect(await until(() => journal.disk.at('song')?.remote === true, minuteMs)).toBe(true);
  lacks = true;
  cache.room.limit({ bytes: mebibyte });
  volume.disk.write('own', virtualContent('own', mebibyte));
  expect(await until(() => cache.room.usedBytes === mebibyte, minuteMs)).toBe(true);
  return { bee, cache, onDemand, peers, until };
}

test('[OD24] a read that was refused for lack of room is refused again without a wait, and not once there is room', async () => {
  const { cache, onDemand, until } = await openWithFullCache();

  let reserves = 0;
  const reserve = cache.reserve.bind(cache);
  cache.reserve = (path, bytes) => {
    reserves++;
    return reserve(path, bytes);
  };
  const codes: string[] = [];
  const read = async (): Promise<void> => {
    const fetched = await onDemand.fetch('song');
    codes.push(fetched.isHere ? 'here' : fetched.code);
  };
  void read();
  expect(await until(() => codes.length === 1, 6_000)).toBe(true);
  void read();
  expect(await until(() => codes.length === 2, 10)).toBe(true);
  expect([codes, reserves]).toEqual([['disk-full', 'disk-full'], 1]);
  cache.room.limit({ bytes: 3 * mebibyte });
  void read();
  expect(await until(() => reserves === 2, 100)).toBe(true);
});

test('[OD5] a reader that has no room is told to connect the members that are away: files stay until enough members have them', async () => {
  const { onDemand, until } = await openWithFullCache();
  const failures: unknown[] = [];
  void onDemand.fetch('song').then((fetched) => failures.push(fetched));
  expect(await until(() => failures.length === 1, 6_000)).toBe(true);
  const reason = expect.stringMatching(/on too few other members that answer\..* connect those that are away/);
  expect(failures).toMatchObject([{ isHere: false, code: 'disk-full', reason }]);
});

test('[OD2] a read from a full cache fails for lack of the content, not of room, if no other member is connected', async () => {
  const { bee, onDemand, peers, until } = await openWithFullCache();

  bee.open = () => {
    throw new Error('The machine of b is off.');
  };
  bee.end('gone');
  expect(await until(() => peers.ready().length === 0, 100)).toBe(true);
  const failures: unknown[] = [];
  void onDemand.fetch('song').then((fetched) => failures.push(fetched));
  expect(await until(() => failures.length === 1, 6_000)).toBe(true);
  expect(failures).toMatchObject([{ isHere: false, code: 'content-missing' }]);
});

test('[OD2] and if no member that is connected has the content', async () => {
  const { onDemand, until } = await openWithFullCache({ hasLost: true });
  const failures: unknown[] = [];
  void onDemand.fetch('song').then((fetched) => failures.push(fetched));
  expect(await until(() => failures.length === 1, 8_000)).toBe(true);
  expect(failures).toMatchObject([{ isHere: false, code: 'content-missing' }]);
});
