import { type Operation, type OriginId, originsMax, type ProblemCode } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import { Life } from '../../sim/base/life.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { withdrawOfAbsent } from '../lifecycle/housekeeping.ts';
import { followIgnoreRules } from '../local/ignore-reload.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { ActionRequest, ActionResult, Folder, UnwatchedDirectory } from '../ports/folder.ts';
import type { ScannedDirectory } from '../ports/observation.ts';
import { refusalLastsMs } from '../replication/dialer.ts';
import { ContentFetcher } from '../transfer/content-fetcher.ts';
import { rulesRestMs } from './ignore-file.ts';

const bee = 'bee' as OriginId;
const detail = 'It has a problem: repair it.';
const quiet = (): void => undefined;

/** A member whose disk causes problems on request. */
class Bench {
  /** Paths at which every action fails. */
  readonly refuses = new Map<string, ProblemCode>();
  /** Directories that cannot be listed. */
  readonly unreadable = new Map<string, ProblemCode>();
  /** Names that a scan skips. */
  readonly skipped: { name: string; code: ProblemCode }[] = [];
  readonly unwatched: UnwatchedDirectory[] = [];
  readonly member = new LoneMember((folder) => this.#around(folder));
  readonly changes: LocalChanges;
  readonly applyLoop: ApplyLoop;

  constructor() {
    const { context, operationWriter, peers } = this.member;
    this.changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 10_000 });
    const transfers = new ContentFetcher(context, peers);
    const gate = new RenameGate(context.journal, context.clock, () => []);
    this.applyLoop = new ApplyLoop(context, transfers, gate);
  }

  /** Lets seconds pass, each with the tasks that the engine runs every second. */
  async seconds(count: number): Promise<void> {
    const { context, peers } = this.member;
    for (let second = 0; second < count; second++) {
      await this.member.passes(1_000);
      context.problems.expire();
      context.facts.second.publish();
      withdrawOfAbsent(context.problems, peers);
    }
  }

  codes(): readonly ProblemCode[] {
    return [...new Set(this.member.context.problems.list().map(({ code }) => code))];
  }

  /** Members write the file, as many as one version may name; then this member's user does. */
  hasLongHistory(path: string, text: string): void {
    const { member } = this;
    const operation = member.operation(path, { kind: 'put', text }, { origin: bee });
    const others = Array.from({ length: originsMax - 1 }, (_, index) => [`member ${index}`, 1]);
    const vector = { ...operation.version.vector, ...Object.fromEntries(others) };
    member.keeps(text);
    member.received({ ...operation, version: { vector } });
    this.applyLoop.poke();
    member.scheduler.after(2_000, () => member.volume.disk.write(path, contentOfText('new')), new Life());
  }

  /** Receives an operation of bee at the path, made from the present heads. */
  comes(kind: Operation['kind'], text?: string): void {
    const parents = this.member.journal.heads.at('file');
    this.member.received(this.member.operation('file', { kind, ...(text && { text }) }, { origin: bee, parents }));
    this.applyLoop.poke();
  }

  async hasRules(text: string): Promise<void> {
    this.member.volume.disk.write(ignoreFileName, contentOfText(text));
    await followIgnoreRules(this.member.context);
    await this.member.passes(rulesRestMs);
    await followIgnoreRules(this.member.context);
  }

  #around(folder: Folder): Folder {
    const { refuses, unreadable, skipped, unwatched } = this;
    const refusal = ({ action }: ActionRequest): ActionResult | undefined => {
      const code = refuses.get('path' in action ? action.path : action.to);
      return code && { result: 'problem', code, detail };
    };
    return new Proxy(folder, {
      get(target, name) {
        if (name === 'unwatched') return () => unwatched;
        if (name === 'apply') {
          return async (requests: readonly ActionRequest[]) => {
            const done = await target.apply(requests.filter((request) => refusal(request) === undefined));
            const results = done.values();
            return requests.map((request) => refusal(request) ?? results.next().value);
          };
        }
        if (name === 'scan') {
          return async function* (...args: Parameters<Folder['scan']>) {
            for await (const chunk of target.scan(...args)) {
              yield chunk.map((scanned): ScannedDirectory => {
                const code = unreadable.get(scanned.path);
                if (code !== undefined) return { ...scanned, entries: [], problem: { code, detail } };
                return scanned.path === '' ? { ...scanned, skipped: [...scanned.skipped, ...skipped] } : scanned;
              });
            }
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

interface Case {
  readonly cause: (bench: Bench) => unknown;
  /** Ways in which the problem ends. */
  readonly ends: Readonly<Record<string, (bench: Bench) => unknown>>;
}

/** An entry cannot be put at its path. */
const refused = (code: ProblemCode): Case => ({
  cause: (bench) => {
    bench.refuses.set('file', code);
    bench.member.keeps('new');
    bench.comes('put', 'new');
  },
  ends: {
    'it can be done': ({ refuses }) => refuses.clear(),
    'others deleted it': (bench) => bench.comes('delete'),
  },
});

const unread = (code: ProblemCode): Case => ({
  cause: ({ unreadable, member }) => {
    member.volume.disk.mkdir('closed');
    unreadable.set('closed', code);
  },
  ends: {
    'it can be listed': ({ unreadable }) => unreadable.clear(),
    'it is gone': ({ unreadable, member }) => {
      unreadable.clear();
      member.volume.disk.rmdir('closed');
    },
  },
});

const leftAlone = (code: ProblemCode): Case => ({
  cause: ({ skipped }) => skipped.push({ name: 'name', code }),
  ends: { 'it is gone': ({ skipped }) => skipped.splice(0) },
});

const ofMember = (code: ProblemCode, lastsMs?: number): Case => ({
  cause: ({ member }) => member.context.problems.set(code, { member: 'gnu' }, detail, lastsMs),
  ends: { 'the member no longer exists': quiet },
});

// `journal-rebuilt` is withdrawn by the agent, not by a loop: see the tests of damaged journals. For `folder-stalled` and
// `state-unusable` (withdrawn with the heartbeat) see the tests of a removed history; for `mount-changed` the tests of mounts.
// `notify-failing` is withdrawn by the notifier, `cache-full` by the cache, `copies-full` by the copies: see
// the tests of those. The tests of power cuts, of syncs of users' writes and of damaged files cover the other codes.
type Elsewhere =
  | 'journal-rebuilt'
  | 'mount-changed'
  | 'notify-failing'
  | 'folder-stalled'
  | 'state-unusable'
  | 'power-cut'
  | 'sync-failed'
  | 'file-damaged'
  | 'cache-full'
  | 'copies-full';

const cases: Record<Exclude<ProblemCode, Elsewhere>, readonly Case[]> = {
  'path-permission': [refused('path-permission'), unread('path-permission')],
  'path-not-utf8': [leftAlone('path-not-utf8')],
  'path-too-long': [refused('path-too-long'), leftAlone('path-too-long')],
  'path-in-the-way': [refused('path-in-the-way')],
  'path-special': [
    {
      cause: ({ member }) => void member.volume.disk.mkfifo('pipe'),
      ends: { 'it is removed': ({ member }) => member.volume.disk.unlink('pipe') },
    },
  ],
  'path-reserved': [leftAlone('path-reserved')],
  'path-unsendable': [
    {
      cause: (bench) => bench.hasLongHistory('file', 'old'),
      ends: {
        'it is as it was': ({ member }) => {
          member.volume.disk.write('file', contentOfText('old'));
          member.volume.disk.utimes('file', 1_000);
        },
      },
    },
  ],
  'path-io': [refused('path-io'), unread('path-io')],
  'file-too-large': [refused('file-too-large')],
  'content-missing': [
    {
      cause: (bench) => bench.comes('put', 'no member has this'),
      ends: {
        'others deleted the path': (bench) => bench.comes('delete'),
        'others replaced it': (bench) => {
          bench.member.keeps('newer');
          bench.comes('put', 'newer');
        },
        'it appears here': ({ member, applyLoop }) => {
          member.keeps('no member has this');
          applyLoop.unblock();
        },
      },
    },
  ],
  'content-corrupt': [
    {
      cause: (bench) => {
        bench.comes('put', 'no member has this');
        bench.member.context.problems.set('content-corrupt', { path: 'file', member: 'gnu' }, detail);
      },
      ends: { 'others deleted the path': (bench) => bench.comes('delete') },
    },
  ],
  'disk-full': [refused('disk-full')],
  'folder-missing': [
    {
      cause: ({ member }) => {
        member.volume.missing = true;
      },
      ends: {
        'it is back': ({ member }) => {
          member.volume.missing = false;
        },
      },
    },
  ],
  'watch-limit': [
    {
      cause: ({ unwatched }) => unwatched.push({ path: 'many', closed: false }),
      ends: {
        'all are watched': ({ unwatched }) => unwatched.splice(0),
        'the others may not be read': ({ unwatched }) => unwatched.splice(0, 1, { path: 'many', closed: true }),
      },
    },
  ],
  'ignore-rule': [
    {
      cause: (bench) => bench.hasRules('['),
      ends: { 'the line is corrected': (bench) => bench.hasRules('*.o') },
    },
  ],
  'ignore-file': [
    {
      cause: (bench) => bench.hasRules('*.o\0'),
      ends: { 'the file can be read': (bench) => bench.hasRules('*.o') },
    },
  ],
  'clock-skew': [ofMember('clock-skew')],
  'digest-mismatch': [ofMember('digest-mismatch')],
  'session-failing': [ofMember('session-failing', refusalLastsMs)],
  'cluster-full': [ofMember('cluster-full', refusalLastsMs)],
  'member-refused': [ofMember('member-refused', refusalLastsMs)],
};

const rows = Object.entries(cases).flatMap(([code, list]) =>
  list.flatMap(({ cause, ends }) => Object.entries(ends).map(([how, end]) => ({ code, how, cause, end }))),
);

describe('[MT16] a problem is withdrawn automatically', () => {
  test.each(rows)('$code: $how', async ({ code, cause, end }) => {
    const bench = new Bench();
    const started = bench.changes.start();
    await bench.member.passes(1_000);
    await started;
    const caused = cause(bench);
    const isOfMember = bench.member.context.problems.list().some(({ member, path }) => member && !path);
    if (!isOfMember) await bench.seconds(15);
    await caused;
    expect(bench.codes()).toContain(code);
    const ended = end(bench);
    await bench.seconds(40);
    await ended;
    expect(bench.codes()).toEqual([]);
    expect(bench.member.errors).toEqual([]);
  });
});
