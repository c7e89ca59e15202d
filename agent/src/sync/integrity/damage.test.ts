import { type Applied, type MemberId, memberPath, type Operation, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { type Content, contentOfText, rotten } from '../../sim/disk/content.ts';
import { stateRoot } from '../../sim/folder/call-gate.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { WriteBack } from '../durability/write-back.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { recordReleased } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { Confirmer } from './confirmer.ts';
import { Damage } from './damage.ts';
import { Scrub } from './scrub.ts';

const text = 'what was written';

/** A member with the loops that find damage and apply content. */
class Bench {
  readonly member = new LoneMember();
  readonly context: Context;
  readonly changes: LocalChanges;
  readonly applyLoop: ApplyLoop;
  readonly damage: Damage;
  #writeBack: WriteBack | undefined;

  constructor(more: Partial<Context> = {}) {
    const { operationWriter, transfers } = this.member;
    this.context = { ...this.member.context, ...more };
    this.changes = new LocalChanges(this.context, operationWriter, { rescanIntervalMs: 600_000 });
    const gate = new RenameGate(this.context.journal, this.context.clock, () => []);
    this.applyLoop = new ApplyLoop(this.context, transfers, gate);
    this.damage = new Damage(this.context);
    new Confirmer(this.context, () => false).poke();
  }

  /** Paths reported as repaired. */
  get repaired(): readonly unknown[] {
    const events = this.context.journal.events.after(0, 100).filter(({ kind }) => kind === 'repaired');
    return events.map(({ data }) => data.path);
  }

  async start(): Promise<void> {
    const started = this.changes.start();
    await this.passes(2_000);
    await started;
  }

  async passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await this.member.passes(500);
      this.context.facts.second.publish();
    }
  }

  /** Writes a file, and waits until its row is certain. */
  async holds(path: string, content: Content): Promise<void> {
    this.member.volume.disk.write(path, content);
    await this.passes(1_000);
    this.changes.scan('', true);
    this.changes.mark(path);
    await this.passes(2_000);
    await this.syncs();
    expect(this.context.journal.disk.at(path)).toMatchObject({ racy: false, content: content.id });
    expect(this.context.journal.disk.unconfirmed(path)).toEqual([]);
  }

  /** Makes all files durable, after which the unconfirmed ones are read once more. */
  async syncs(): Promise<void> {
    this.#writeBack ??= new WriteBack(this.context);
    this.#writeBack.poke();
    await this.passes(2_000);
  }

  /** Flips a bit in the file. Returns the resulting content. */
  rots(path: string): Content {
    const inode = this.member.volume.disk.at(path);
    if (inode?.content === undefined) throw new Error(`${path} is no file`);
    inode.content = rotten(inode.content);
    return inode.content;
  }

  at(path: string): Content | undefined {
    return this.member.volume.disk.at(path)?.content;
  }

  log(): readonly Operation[] {
    return this.context.journal.log.rows({ limit: 100 }).map(({ operation }) => operation);
  }

  codes(): readonly string[] {
    return this.context.problems.list().map(({ code }) => code);
  }
}

/** The operations with which another member gives the file another time, at its path or, by a rename, at a new one. */
function changesTime(member: LoneMember, what: string, written: Operation | undefined): readonly Operation[] {
  const options = { origin: 'bee.1' as OriginId, parents: written === undefined ? [] : [written] };
  if (what === 'attr') return [member.operation('file', { kind: 'attr', text }, options)];
  const { origin } = options;
  const moved = { ...member.operation('moved', { kind: 'put', text }, { origin }), from: 'file' };
  return [moved, member.operation('file', { kind: 'delete' }, options)];
}

describe('[MT21] bytes that changed under an unchanged fingerprint', () => {
  test('are damage: no operation, a problem, and the content is put back from elsewhere', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('file', contentOfText(text));
    const before = bench.log().length;
    const spoilt = bench.rots('file');
    const verdict = bench.damage.check('file');
    await bench.passes(1_000);
    expect(await verdict).toBe('damaged');
    expect(bench.codes()).toContain('file-damaged');
    expect(bench.context.journal.totals.counts().pending).toBe(1);
    // No member has the content: the damaged file stays.
    await bench.passes(20_000);
    expect(bench.at('file')).toEqual(spoilt);
    bench.member.keeps(text);
    bench.applyLoop.unblock();
    await bench.passes(2_000);
    expect(bench.at('file')?.id).toBe(contentOfText(text).id);
    expect([...bench.member.volume.history.keys()]).toContain(spoilt.id);
    expect(bench.log()).toHaveLength(before);
    expect(bench.codes()).toEqual([]);
    expect(bench.repaired).toEqual(['file']);
    expect(bench.member.errors).toEqual([]);
  });

  test('[LC16] a touch or another mode of known damage publishes nothing, an edit of it does', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('file', contentOfText(text));
    const [written] = bench.log();
    const before = bench.log().length;
    bench.rots('file');
    const verdict = bench.damage.check('file');
    await bench.passes(1_000);
    expect(await verdict).toBe('damaged');
    bench.member.volume.disk.utimes('file', 5_000);
    bench.member.volume.disk.chmod('file', 0o600);
    await bench.passes(3_000);
    expect(bench.log()).toHaveLength(before);
    expect(bench.context.journal.disk.damaged()).toMatchObject([{ path: 'file', fingerprint: { mtimeMs: 5_000 } }]);
    bench.member.volume.disk.write('file', contentOfText('an edit'));
    await bench.passes(3_000);
    expect(
      bench.context.journal.heads
        .at('file')
        .map(({ content }) => content)
        .sort(),
    ).toEqual([contentOfText(text).id, contentOfText('an edit').id].sort());
    expect(bench.context.journal.heads.at('file')).toContainEqual(written);
  });

  test.each(['attr', 'rename'])('are found before the time of another member hides them: %s', async (what) => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('file', contentOfText(text));
    const before = bench.log().length;
    const spoilt = bench.rots('file');
    const [written] = bench.log();
    const path = what === 'rename' ? 'moved' : 'file';
    const received = changesTime(bench.member, what, written);
    bench.member.received(...received);
    bench.applyLoop.poke();
    await bench.passes(10_000);
    bench.member.keeps(text);
    bench.applyLoop.unblock();
    await bench.passes(5_000);
    expect(bench.member.volume.disk.at(path)).toMatchObject({
      content: { id: contentOfText(text).id },
      mtimeMs: 1_000,
    });
    expect([...bench.member.volume.history.keys()]).toContain(spoilt.id);
    expect(bench.log()).toHaveLength(before + received.length);
    expect(bench.codes()).toEqual([]);
  });

  test('a file that a user changed is no damage', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('file', contentOfText(text));
    bench.member.volume.disk.write('file', contentOfText('what is new here'));
    const verdict = bench.damage.check('file');
    await bench.passes(3_000);
    expect(await verdict).toBe('changed');
    expect(bench.context.journal.disk.damaged()).toEqual([]);
    expect(bench.context.journal.heads.at('file')).toMatchObject([{ content: contentOfText('what is new here').id }]);
  });
});

describe('[SC1] [SC2] the scrub', () => {
  test('reads all files once in its interval, and continues at its position after a restart', async () => {
    const bench = new Bench();
    await bench.start();
    for (const name of ['a', 'b', 'c', 'd']) await bench.holds(name, contentOfText(`${text} ${name}`));
    for (const name of ['a', 'c']) bench.rots(name);
    const startedAtMs = bench.context.clock.wallMs();
    bench.context.journal.settings.set('scrub', JSON.stringify({ startedAtMs, after: 'b' }));
    const scrub = new Scrub(bench.context, bench.damage, { intervalMs: 60_000, isBusy: () => false });
    scrub.start();
    await bench.passes(30_000);
    expect(bench.context.journal.disk.damaged().map(({ path }) => path)).toEqual(['c']);
    const position = JSON.parse(bench.context.journal.settings.get('scrub') ?? '{}');
    expect(position).toMatchObject({ startedAtMs, finishedAtMs: expect.any(Number) });
    await bench.passes(130_000);
    expect(bench.context.journal.disk.damaged().map(({ path }) => path)).toEqual(['a', 'c']);
    scrub.stop();
  });

  test('waits while the folder is busy', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('a', contentOfText(text));
    bench.rots('a');
    let isBusy = true;
    const scrub = new Scrub(bench.context, bench.damage, { intervalMs: 900_000, isBusy: () => isBusy });
    scrub.start();
    await bench.passes(120_000);
    expect(bench.context.journal.disk.damaged()).toEqual([]);
    isBusy = false;
    await bench.passes(60_000);
    expect(bench.context.journal.disk.damaged()).toHaveLength(1);
    scrub.stop();
  });

  // The simulator's seed 211663: nothing was read while a content was searched for that no member had.
  test('waits for a fifth of its interval, and reads a folder that is always busy all the same', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('a', contentOfText(text));
    bench.rots('a');
    const scrub = new Scrub(bench.context, bench.damage, { intervalMs: 60_000, isBusy: () => true });
    scrub.start();
    await bench.passes(12_000);
    expect(bench.context.journal.disk.damaged()).toEqual([]);
    await bench.passes(48_000);
    expect(bench.context.journal.disk.damaged()).toHaveLength(1);
    scrub.stop();
  });

  test('counts the wait before a restart, too', async () => {
    const bench = new Bench();
    await bench.start();
    await bench.holds('a', contentOfText(text));
    bench.rots('a');
    const options = { intervalMs: 7_200_000, isBusy: () => true };
    const first = new Scrub(bench.context, bench.damage, options);
    first.start();
    await bench.passes(600_000 + 1_230_000);
    first.stop();
    const position = JSON.parse(bench.context.journal.settings.get('scrub') ?? '{}');
    expect(position.waitedMs).toBeGreaterThan(1_000_000);
    const second = new Scrub(bench.context, bench.damage, options);
    second.start();
    await bench.passes(600_000 + 450_000);
    expect(bench.context.journal.disk.damaged()).toHaveLength(1);
    second.stop();
  });
});

// The simulator's seed 145940: calls failed when the file was put in place.
test('[MT21] a bit flip is damage also in a file whose name in staging only the next start could remove', async () => {
  const bench = new Bench();
  const { disk } = bench.member.volume;
  await bench.start();
  disk.write('file', contentOfText(text));
  disk.link('file', `${stateRoot}/staging/left`);
  await bench.holds('file', contentOfText(text));
  const spoilt = bench.rots('file');
  const before = bench.log();
  bench.changes.stop();
  const context = { ...bench.context, folder: bench.member.openFolder() };
  recordReleased(context, context.folder.released);
  expect(disk.at(`${stateRoot}/staging/left`)).toBeUndefined();
  const changes = new LocalChanges(context, bench.member.operationWriter);
  const started = changes.start();
  await bench.passes(2_000);
  await started;
  expect(bench.log()).toEqual(before);
  const checked = new Damage(context).check('file');
  await bench.passes(1_000);
  expect(await checked).toBe('damaged');
  expect(context.journal.disk.at('file')).toMatchObject({ damaged: true, found: spoilt.id });
});

test('[MT21] a bit flip is damage also in a file that the agent could not replace', async () => {
  const bench = new Bench();
  const { folder, journal } = bench.context;
  const { disk } = bench.member.volume;
  await bench.start();
  await bench.holds('file', contentOfText(text));
  const spoilt = bench.rots('file');
  folder.apply = async (requests) => {
    const before = journal.disk.at('file')?.fingerprint;
    disk.link('file', `${stateRoot}/staging/held`);
    disk.unlink(`${stateRoot}/staging/held`);
    const [seen] = await folder.observe([{ path: 'file' }]);
    if (before === undefined || seen?.state !== 'file') throw new Error('the file is missing');
    expect(seen.fingerprint.ctimeMs).not.toBe(before.ctimeMs);
    const released = { before, after: seen.fingerprint };
    return requests.map(() => ({ result: 'problem', code: 'path-in-the-way', detail: 'refused', released }));
  };
  const origin = 'bee.1' as OriginId;
  bench.member.received(
    bench.member.operation('file', { kind: 'put', text: 'the next version' }, { origin, parents: bench.log() }),
  );
  const before = bench.log().length;
  bench.member.keeps('the next version');
  bench.applyLoop.poke();
  await bench.passes(1_000);
  expect(bench.codes()).toContain('path-in-the-way');
  bench.changes.mark('file');
  const checked = bench.damage.check('file');
  await bench.passes(1_000);
  expect(await checked).toBe('damaged');
  expect(journal.disk.at('file')).toMatchObject({ damaged: true, found: spoilt.id });
  expect(bench.log()).toHaveLength(before);
});

describe('[LC17] a file that an earlier run read at the moment of its last change, and that has other bytes now under the same fingerprint', () => {
  const bee = 'bee' as MemberId;

  /** The state after a restart in a cluster with bee: the row is racy, and this run began later. */
  async function afterRestart({ saved = false }: { readonly saved?: boolean } = {}) {
    const bench = new Bench({ startedAtMs: Number.MAX_SAFE_INTEGER });
    const member = { id: bee, name: 'bee', addresses: [], membership: 'joined' as const };
    const joined = bench.member.operation(memberPath(bee), { kind: 'member' }, { origin: 'bee.1' as OriginId });
    bench.member.received({ ...joined, member });
    await bench.start();
    bench.member.volume.disk.write('file', contentOfText(text));
    await bench.passes(1_000);
    expect(bench.context.journal.disk.at('file')).toMatchObject({ racy: true, content: contentOfText(text).id });
    const all: Applied = { vector: bench.context.journal.log.known(), ranges: {} };
    if (saved) bench.context.journal.acks.save(bee, all);
    const spoilt = bench.rots('file');
    bench.changes.mark('file');
    await bench.passes(3_000);
    return { bench, spoilt, all };
  }

  test('keeps the old content under its name, if another member has it, and the new one as a conflict copy', async () => {
    const { bench, spoilt } = await afterRestart({ saved: true });
    expect(bench.context.journal.heads.at('file')).toMatchObject([{ content: contentOfText(text).id }]);
    expect(bench.context.journal.disk.damaged()).toMatchObject([{ path: 'file', found: spoilt.id }]);
    const copies = [...bench.member.volume.disk.entries()].filter(([path]) => path.startsWith('file.conflict-'));
    expect(copies.map(([, { content }]) => content?.id)).toEqual([spoilt.id]);
    expect(bench.context.journal.heads.at(copies[0]?.[0] ?? '')).toMatchObject([{ kind: 'put', content: spoilt.id }]);
    bench.member.keeps(text);
    bench.applyLoop.unblock();
    await bench.syncs();
    expect(bench.at('file')?.id).toBe(contentOfText(text).id);
    expect(bench.member.errors).toEqual([]);
  });

  test('[LC40] is read once more: a further store through a mapping is an edit that supersedes nothing', async () => {
    const { bench } = await afterRestart({ saved: true });
    expect(bench.context.journal.disk.unconfirmed('')).toContain('file');
    const further = contentOfText(text.toUpperCase());
    Object.assign(bench.member.volume.disk.at('file') ?? {}, { content: further });
    await bench.syncs();
    const contents = bench.context.journal.heads.at('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([contentOfText(text).id, further.id]));
  });

  test('waits for members that have not been heard yet', async () => {
    const { bench, all } = await afterRestart();
    expect(bench.context.journal.heads.at('file')).toMatchObject([{ content: contentOfText(text).id }]);
    expect(bench.context.journal.disk.damaged()).toEqual([]);
    bench.context.others.heard(bee, all);
    await bench.passes(1_000);
    expect(bench.context.journal.heads.at('file')).toMatchObject([{ content: contentOfText(text).id }]);
    expect(bench.context.journal.disk.damaged()).toMatchObject([{ path: 'file' }]);
  });

  test.each(['said that it lacks it', 'says nothing'])('is an edit if the other member %s', async (answer) => {
    const { bench, spoilt } = await afterRestart();
    if (answer !== 'says nothing') bench.context.others.heard(bee, { vector: {}, ranges: {} });
    await bench.passes(answer === 'says nothing' ? 10_000 : 1_000);
    expect(bench.context.journal.heads.at('file')).toMatchObject([{ content: spoilt.id }]);
    expect(bench.context.journal.disk.damaged()).toEqual([]);
  });
});
