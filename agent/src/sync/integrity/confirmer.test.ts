import { blockBytes, type Dot, dotKey, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { type Content, contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { WriteBack } from '../durability/write-back.ts';
import { ChangePoll } from '../local/change-poll.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { Journal } from '../ports/journal.ts';
import type { Context } from '../state/context.ts';
import { Confirmer } from './confirmer.ts';
import { Damage } from './damage.ts';

const bee = 'bee' as OriginId;
const [first, second] = [contentOfText('the first store'), contentOfText('and another one')];

/** A member with the loops that detect and apply changes. */
class Bench {
  readonly member = new LoneMember();
  readonly context: Context = this.member.context;
  readonly changes = new LocalChanges(this.context, this.member.operationWriter, { rescanIntervalMs: 600_000 });
  readonly applyLoop: ApplyLoop;
  readonly confirmer: Confirmer;
  #writeBack: WriteBack | undefined;
  isBusy = false;

  constructor() {
    const { context } = this;
    this.confirmer = new Confirmer(context, () => this.isBusy);
    const gate = new RenameGate(context.journal, context.clock, () => []);
    this.applyLoop = new ApplyLoop(context, this.member.transfers, gate);
  }

  /** Starts the syncs that make users' changes durable. */
  syncs(): void {
    this.#writeBack ??= new WriteBack(this.context);
    this.#writeBack.poke();
  }

  /** Publishes a file whose row is certain of its content; no sync has ended since. */
  async holds(content: Content): Promise<void> {
    const started = this.changes.start();
    await this.passes(1_000);
    await started;
    this.disk.write('file', content);
    await this.passes(1_000);
    this.changes.mark('file');
    await this.passes(1_000);
    expect(this.context.journal.disk.at('file')).toMatchObject({
      racy: false,
      unconfirmed: 'dirty',
      content: content.id,
    });
  }

  /** As `holds`, after a sync and a second read. */
  async isCertainOf(content: Content): Promise<void> {
    await this.holds(content);
    this.syncs();
    await this.passes(2_000);
    expect(this.context.journal.disk.unconfirmed('')).toEqual([]);
  }

  /** Changes the file without a trace. */
  stores(content: Content): void {
    const before = this.disk.at('file');
    const { mtimeMs, ctimeMs } = { ...before };
    this.disk.store('file', content);
    expect(this.disk.at('file')).toMatchObject({ mtimeMs, ctimeMs, content });
  }

  get disk() {
    return this.member.volume.disk;
  }

  passes(ms: number): Promise<void> {
    return this.member.passes(ms);
  }

  /** The contents of the heads of the file. */
  heads(): readonly (string | undefined)[] {
    return this.context.journal.heads.at('file').map(({ content }) => content);
  }
}

describe('[LC40] a store that leaves no trace', () => {
  test('is found after the sync that makes the file durable, and the file is certain then', async () => {
    const bench = new Bench();
    await bench.holds(first);
    bench.stores(second);
    bench.syncs();
    await bench.passes(5_000);
    expect(bench.heads()).toEqual([second.id]);
    bench.syncs();
    await bench.passes(5_000);
    expect(bench.context.journal.disk.unconfirmed('')).toEqual([]);
    expect(bench.context.journal.disk.at('file')).toMatchObject({ racy: false, content: second.id });
    const written = bench.member.wrote.length;
    await bench.passes(60_000);
    expect(bench.member.wrote).toHaveLength(written);
    expect(bench.member.errors).toEqual([]);
  });

  test('is found in a large file, a block at a time', async () => {
    const bench = new Bench();
    const size = 3 * blockBytes;
    await bench.holds(virtualContent('before', size));
    const stored = virtualContent('after', size);
    bench.stores(stored);
    bench.syncs();
    await bench.passes(10_000);
    expect(bench.heads()).toEqual([stored.id]);
  });

  // Simulator, seed 82830: such a file was never certain, and nothing could be applied at its path.
  test('is found in a large file whose operation is not in the log: it was cut off when the log forked', async () => {
    const bench = new Bench();
    const { context } = bench;
    bench.confirmer.stop();
    await bench.holds(virtualContent('before', 3 * blockBytes));
    bench.stores(virtualContent('after', 3 * blockBytes));
    const cutOff = context.journal.disk.at('file')?.dot;
    const operation = (dot: Dot) =>
      cutOff !== undefined && dotKey(dot) === dotKey(cutOff) ? undefined : context.journal.log.operation(dot);
    const log = new Proxy(context.journal.log, {
      get: (table, call) => (call === 'operation' ? operation : Reflect.get(table, call).bind(table)),
    });
    const journal: Journal = { ...context.journal, log };
    const confirmer = new Confirmer({ ...context, journal }, () => false);
    const read = confirmer.readNow('', { giveUp: () => false });
    await bench.passes(1_000);
    expect(await read).toEqual({ hasDifferent: true, open: undefined });
    confirmer.stop();
  });

  test('is found in a folder that is never at rest', async () => {
    const bench = new Bench();
    await bench.holds(first);
    bench.stores(second);
    bench.isBusy = true;
    bench.syncs();
    await bench.passes(5_000);
    expect(bench.heads()).toEqual([first.id]);
    await bench.passes(10_000);
    expect(bench.heads()).toEqual([second.id]);
  });

  test('is damage, and no edit, once another read has confirmed the file', async () => {
    const bench = new Bench();
    await bench.holds(first);
    bench.isBusy = true;
    bench.syncs();
    await bench.passes(2_000);
    const read = bench.confirmer.readNow('', { giveUp: () => false });
    await bench.passes(100);
    await read;
    expect(bench.context.journal.disk.unconfirmed('')).toEqual([]);
    const inode = bench.disk.at('file');
    if (inode !== undefined) inode.content = second;
    await bench.passes(30_000);
    expect(bench.heads()).toEqual([first.id]);
  });

  test('is no damage', async () => {
    const bench = new Bench();
    await bench.holds(first);
    bench.stores(second);
    const damage = new Damage(bench.context);
    const verdict = damage.check('file');
    await bench.passes(3_000);
    expect(await verdict).toBe('changed');
    expect(bench.context.journal.disk.damaged()).toEqual([]);
    expect(bench.heads()).toEqual([second.id]);
  });

  test('[AK20] is found at once during a wait for all entries on the disk', async () => {
    const bench = new Bench();
    await bench.holds(first);
    bench.stores(second);
    const read = bench.confirmer.readNow('', { giveUp: () => false });
    await bench.passes(1_000);
    expect(await read).toEqual({ hasDifferent: true, open: undefined });
    expect(bench.heads()).toEqual([second.id]);
    const late = bench.confirmer.readNow('file', { giveUp: () => true });
    expect(await late).toEqual({ hasDifferent: false, open: 'file' });
  });

  test('[AK20] a large file is read no further once its caller has given up, and is named', async () => {
    const bench = new Bench();
    await bench.holds(virtualContent('before', 3 * blockBytes));
    let blocksRead = 0;
    const { folder } = bench.context;
    const holdsBlock: typeof folder.holdsBlock = (block) => {
      blocksRead += 1;
      return folder.holdsBlock(block);
    };
    const counted = Object.assign(Object.create(folder), { holdsBlock });
    const confirmer = new Confirmer({ ...bench.context, folder: counted }, () => false);
    const begun: string[] = [];
    const read = confirmer.readNow('', { giveUp: () => blocksRead === 1, begins: (path) => void begun.push(path) });
    await bench.passes(1_000);
    expect(await read).toEqual({ hasDifferent: false, open: 'file' });
    expect({ blocksRead, begun }).toEqual({ blocksRead: 1, begun: ['file'] });
    confirmer.stop();
  });

  test.each(['before the file is durable', 'after the file was made durable'])(
    '[MT40] is not overwritten by the version of another member, %s',
    async (when) => {
      const bench = new Bench();
      if (when === 'before the file is durable') {
        await bench.holds(first);
        bench.stores(second);
      } else {
        await bench.isCertainOf(first);
        bench.disk.store('file', second);
      }
      const theirs = 'what bee wrote';
      bench.member.keeps(theirs);
      const parents = bench.context.journal.heads.at('file');
      bench.member.received(bench.member.operation('file', { kind: 'put', text: theirs }, { origin: bee, parents }));
      // A file that may change without a trace is not replaced before a sync.
      bench.syncs();
      bench.applyLoop.poke();
      await bench.passes(10_000);
      expect([...bench.heads()].sort()).toEqual([second.id, contentOfText(theirs).id].sort());
    },
  );
});

test('[WT40] a change that raises no event is found by its times', async () => {
  const bench = new Bench();
  await bench.isCertainOf(first);
  const poll = new ChangePoll(bench.context, () => false);
  poll.start();
  bench.disk.store('file', second);
  await bench.passes(4_000);
  expect(bench.heads()).toEqual([second.id]);
  bench.disk.writeElsewhere('file', first);
  await bench.passes(4_000);
  expect(bench.heads()).toEqual([first.id]);
  poll.stop();
});
