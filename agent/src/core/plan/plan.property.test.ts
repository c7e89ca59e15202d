import type { ContentId, Operation } from '@lockstep/shared';
import { dotKey, entryType, isBelow, parentOf } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fingerprint } from '../entry.ts';
import { directory, file, gone, link, type Shape, type Tree, World } from './_fixtures.ts';
import type { Action, Expected } from './action.ts';
import type { PlanStep } from './plan-step.ts';

/** A disk that executes plans and throws where a real one would refuse. */
class Disk {
  readonly entries = new Map<
    string,
    { fingerprint: Fingerprint; content?: string | undefined; target?: string | undefined }
  >();
  readonly #world: World;
  #ino = 1_000;

  constructor(world: World, tree: Tree) {
    this.#world = world;
    for (const [path, { content, target }] of Object.entries(tree)) {
      const left = world.disk(path)?.fingerprint;
      if (left) this.entries.set(path, { fingerprint: left, content, target });
    }
  }

  /** Executes like the adapter: all is staged first, then committed in order. The rows are written at the end. */
  apply(steps: readonly PlanStep[]): void {
    const contents = steps.map(({ request }) => this.#stage(request.action));
    const changes = steps.flatMap((step, index) => {
      this.#commit(step, contents[index]);
      const { action } = step.request;
      const target = 'to' in action ? action.to : action.path;
      return step.record(this.entries.get(target)?.fingerprint, false);
    });
    for (const { path, entry } of changes) {
      if (entry) this.#world.rows.set(path, { path, ...entry });
    }
  }

  #stage(action: Action): string | undefined {
    if (action.do !== 'write') return undefined;
    const { source, content } = action;
    if (source.from === 'file') expect(this.entries.get(source.path)?.content).toBe(content);
    else if (source.from === 'history') expect(this.#world.history).toContain(content);
    else expect(this.#world.staged).toContain(content);
    return content;
  }

  #commit({ request: { action, keep } }: PlanStep, content: string | undefined): void {
    if (action.do === 'rename-directory') {
      this.#renameDirectory(action);
      return;
    }
    const path = action.do === 'rename' ? action.to : action.path;
    this.#assertParent(path);
    const existing = this.entries.get(path);
    if (action.do === 'rmdir') {
      expect([...this.entries.keys()].filter((other) => isBelow(other, path))).toEqual([]);
      this.entries.delete(path);
      return;
    }
    this.#assertExpected(path, action.expected);
    if (existing?.content !== undefined && action.do !== 'attr') {
      // A replaced or removed entry is kept, under its own name.
      expect(keep).toBe(existing.content);
      this.#world.history.add(existing.content);
    }
    if (action.do !== 'mkdir' && action.do !== 'attr') {
      expect([...this.entries.keys()].filter((other) => isBelow(other, path))).toEqual([]);
    }
    const ino = this.#ino++;
    const times = { size: 1, mtimeMs: ('mtimeUs' in action ? (action.mtimeUs ?? 0) : 0) / 1000, ctimeMs: ino };
    switch (action.do) {
      case 'write':
        this.entries.set(path, { content, fingerprint: { ...times, ino, mode: 0o100000 | action.mode } });
        return;
      case 'mkdir':
        this.entries.set(path, { fingerprint: { ...times, ino, mode: 0o040000 | action.mode } });
        return;
      case 'symlink':
        this.entries.set(path, { target: action.target, fingerprint: { ...times, ino, mode: 0o120777 } });
        return;
      case 'attr': {
        const type = action.expected.mode & 0o170000;
        const mtimeMs = action.mtimeUs === undefined ? action.expected.mtimeMs : action.mtimeUs / 1000;
        this.entries.set(path, {
          ...existing,
          fingerprint: { ...action.expected, mode: type | action.mode, mtimeMs, ctimeMs: ino },
        });
        return;
      }
      case 'unlink':
        this.entries.delete(path);
        return;
      case 'rename': {
        this.#assertExpected(action.from, action.expectedFrom);
        const moved = this.entries.get(action.from);
        if (moved === undefined) throw new Error(`${action.from} is not there`);
        const mode = action.mode === undefined ? moved.fingerprint.mode : 0o100000 | action.mode;
        const mtimeMs = action.mtimeUs === undefined ? moved.fingerprint.mtimeMs : action.mtimeUs / 1000;
        this.entries.delete(action.from);
        this.entries.set(path, { ...moved, fingerprint: { ...moved.fingerprint, mode, mtimeMs, ctimeMs: ino } });
      }
    }
  }

  #renameDirectory({ from, to, names, expectedFrom, mode }: Extract<Action, { do: 'rename-directory' }>): void {
    this.#assertParent(to);
    this.#assertExpected(to, 'absent');
    this.#assertExpected(from, expectedFrom);
    const inside = [...this.entries.keys()].filter((path) => isBelow(path, from));
    expect(inside.map((path) => path.slice(from.length + 1)).sort()).toEqual([...names].sort());
    for (const path of [from, ...inside]) {
      const entry = this.entries.get(path);
      if (entry === undefined) continue;
      this.entries.delete(path);
      this.entries.set(to + path.slice(from.length), entry);
    }
    this.entries.set(to, { fingerprint: { ...expectedFrom, mode: 0o040000 | mode } });
  }

  #assertParent(path: string): void {
    const parent = parentOf(path);
    if (parent === '') return;
    expect(this.entries.get(parent)?.fingerprint.mode ?? 0, `the parent of ${path} is a directory`).toSatisfy(
      (mode: number) => (mode & 0o170000) === 0o040000,
    );
  }

  #assertExpected(path: string, expected: Expected): void {
    const existing = this.entries.get(path)?.fingerprint;
    expect(existing?.ino, `the entry at ${path}`).toBe(expected === 'absent' ? undefined : expected.ino);
  }
}

const names = ['a', 'b', 'c'];
const paths = names.flatMap((x) => [x, ...names.flatMap((y) => [`${x}/${y}`, ...names.map((z) => `${x}/${y}/${z}`)])]);
const shapes: fc.Arbitrary<Shape> = fc.oneof(
  fc.constantFrom('A', 'B', 'C').map((content) => file(content)),
  fc.constant(file('A', { mode: 0o600, mtimeUs: 5_000 })),
  fc.constant(directory()),
  fc.constant(directory({ mode: 0o700 })),
  fc.constantFrom('t', 'u').map((target) => link(target)),
);

/** A tree in which every parent is a directory. */
const trees: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(fc.constantFrom(...paths), shapes), { maxLength: 14 })
  .map((entries) => {
    const tree: Record<string, Shape> = {};
    for (const [path, shape] of entries) {
      for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
        if (tree[parent]?.kind !== 'mkdir') tree[parent] = directory();
      }
      if (!Object.keys(tree).some((other) => isBelow(other, path))) tree[path] = shape;
    }
    return tree;
  });

/** Renames that turn `before` into `after`, true and false ones, because a head may claim any origin. */
const origins = fc.dictionary(fc.constantFrom(...paths), fc.constantFrom(...paths), { maxKeys: 8 });

function headsFrom(before: Tree, after: Tree, from: Readonly<Record<string, string>>): Tree {
  const heads: Record<string, Shape> = {};
  for (const [path, shape] of Object.entries(after)) {
    const origin = from[path];
    const span = shape.kind === 'mkdir' && origin !== undefined ? 2 : undefined;
    heads[path] = origin === undefined ? shape : { ...shape, from: origin, span };
  }
  for (const path of Object.keys(before)) heads[path] ??= gone;
  return heads;
}

/** The tree with directories moved whole: `a` and all in it to `z`, for instance. */
function movedTree(
  before: Tree,
  moves: Readonly<Record<string, string>>,
): { after: Tree; from: Record<string, string> } {
  const after: Record<string, Shape> = {};
  const from: Record<string, string> = {};
  for (const [path, shape] of Object.entries(before)) {
    const root = path.split('/')[0] ?? path;
    const target = (moves[root] ?? root) + path.slice(root.length);
    after[target] = shape;
    if (target !== path) from[target] = path;
  }
  return { after, from };
}

function showsHead(world: World, disk: Disk, head: Operation): boolean {
  const entry = disk.entries.get(head.path);
  const type = entryType(head);
  if (type === 'absent' || entry === undefined) return type === 'absent' && entry === undefined;
  const typeBits = { file: 0o100000, directory: 0o040000, symlink: 0o120000, member: 0 }[type];
  if ((entry.fingerprint.mode & 0o170000) !== typeBits) return false;
  if (entry.content !== head.content || entry.target !== head.target) return false;
  if (type !== 'symlink' && (entry.fingerprint.mode & 0o7777) !== head.mode) return false;
  if (type === 'file' && entry.fingerprint.mtimeMs * 1000 !== head.mtimeUs) return false;
  const row = world.disk(head.path);
  return row !== undefined && dotKey(row.dot) === dotKey(head) && row.fingerprint?.ino === entry.fingerprint.ino;
}

/** Makes passes like the apply loop, with `fetch` of the content that a plan needs, until no path is pending. Returns their number. */
function applyPending(world: World, disk: Disk): number {
  for (let rounds = 1; rounds <= 12; rounds++) {
    for (const which of ['live', 'delete'] as const) {
      const { steps, records, needs } = world.plan(which);
      for (const { path, entry } of records) if (entry) world.rows.set(path, { path, ...entry });
      for (const { content } of needs) world.staged.add(content as ContentId);
      disk.apply(steps);
    }
    if (world.pending('live').length === 0 && world.pending('delete').length === 0) return rounds;
  }
  throw new Error(`still pending: ${[...world.pending('live'), ...world.pending('delete')].map(({ path }) => path)}`);
}

describe('for any disk and any heads', () => {
  test('[MT1][MT2] the plans are executed without a refusal, and the disk shows the heads in the end', () => {
    fc.assert(
      fc.property(trees, trees, origins, (before, after, from) => {
        const world = new World({ disk: before, heads: headsFrom(before, after, from) });
        const disk = new Disk(world, before);
        applyPending(world, disk);
        for (const head of world.heads.values()) expect(showsHead(world, disk, head), head.path).toBe(true);
        expect(disk.entries.size).toBe(Object.keys(after).length);
      }),
      { numRuns: 800 },
    );
  });

  test('[LC7][CT4] trees that changed places need no content from others', () => {
    const targets = fc.shuffledSubarray([...names, 'x', 'y', 'z'], { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(trees, targets, (before, [a = 'a', b = 'b', c = 'c']) => {
        const { after, from } = movedTree(before, { a, b, c });
        const world = new World({ disk: before, heads: headsFrom(before, after, from) });
        const disk = new Disk(world, before);
        applyPending(world, disk);
        expect([...world.staged]).toEqual([]);
        for (const head of world.heads.values()) expect(showsHead(world, disk, head), head.path).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('[MT5] content that no author of a head knew is in the folder or in history', () => {
    fc.assert(
      fc.property(trees, trees, origins, (before, after, from) => {
        const world = new World({ disk: before, heads: headsFrom(before, after, from) });
        const disk = new Disk(world, before);
        const contents = new Set([...disk.entries.values()].flatMap(({ content }) => content ?? []));
        applyPending(world, disk);
        const held = new Set([...disk.entries.values()].flatMap(({ content }) => content ?? []));
        for (const content of contents) expect(held.has(content) || world.history.has(content)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
