import type { ContentId, Dot, Operation, OperationKind, OriginId } from '@lockstep/shared';
import { dotKey, isBelow, isLive } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isDirectoryMode, type PendingPath } from '../entry.ts';
import { nextVersion } from '../version.ts';
import type { Action, ContentSource } from './action.ts';
import { type Plan, planBatch } from './plan.ts';
import type { MovedEntry, PlanView } from './plan-step.ts';

/** The entry at a path, or that of a head. Content ids are single letters here. */
export interface Shape {
  readonly kind: OperationKind;
  readonly content?: string | undefined;
  readonly target?: string | undefined;
  readonly mode?: number | undefined;
  readonly mtimeUs?: number | undefined;
  readonly from?: string | undefined;
  readonly span?: number | undefined;
  readonly racy?: boolean | undefined;
  /** On a disk: the entry is not what the operation says. */
  readonly damaged?: boolean | undefined;
}

type Extra = Omit<Shape, 'kind' | 'content' | 'target'>;

export function file(content: string, extra: Extra = {}): Shape {
  return { kind: 'put', content, mode: 0o644, mtimeUs: 1_000_000, ...extra };
}

export function directory(extra: Extra = {}): Shape {
  return { kind: 'mkdir', mode: 0o755, ...extra };
}

export function link(target: string, extra: Extra = {}): Shape {
  return { kind: 'symlink', target, mtimeUs: 1_000_000, ...extra };
}

/** A delete as a head. On a disk: a row without an entry. */
export const gone: Shape = { kind: 'delete' };

export type Tree = Readonly<Record<string, Shape>>;

export const [ant, bee] = ['ant', 'bee'] as [OriginId, OriginId];

/** An operation that puts `shape` at `path`, after `parents`. */
export function operation(path: string, shape: Shape, dot: Dot, parents: readonly Operation[] = []): Operation {
  const { kind, content, racy: _, damaged: __, ...rest } = shape;
  const { origin, seq } = dot;
  const fields = { ...rest, ...(content !== undefined && { content: content as ContentId, size: 1 }) };
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    origin,
    seq,
    hlc: seq,
    kind,
    path,
    version: nextVersion(dot, parents, []),
    ...(Object.fromEntries(defined) as Partial<Operation>),
  };
}

const typeBits: Partial<Record<OperationKind, number>> = { put: 0o100000, mkdir: 0o040000, symlink: 0o120000 };

export function fingerprint(shape: Shape, ino: number): Fingerprint {
  const mode = (typeBits[shape.kind] ?? 0) | (shape.kind === 'symlink' ? 0o777 : (shape.mode ?? 0));
  return { ino, size: 1, mtimeMs: (shape.mtimeUs ?? 0) / 1000, ctimeMs: ino, mode };
}

/** The parts of a world; contents are single letters. */
export interface WorldInput {
  readonly disk?: Tree;
  readonly heads?: Tree;
  readonly history?: string;
  readonly staged?: string;
  readonly ignored?: readonly string[];
  /** Directories that are not moved whole. */
  readonly mixed?: readonly string[];
  /** The only files that are wanted. Without it the member has the whole folder. */
  readonly wanted?: readonly string[];
  /** The files of which the member keeps a copy. */
  readonly placed?: readonly string[];
  /** Contents that came with their operations. */
  readonly received?: string;
  /** Contents of files below a mount that hides them. */
  readonly hidden?: string;
}

/**
 * A journal and a disk small enough to be written down. `disk` is what the disk shows, each entry by an operation of ant; `heads` are later
 * operations of bee, on these paths or others. A path that is only in `disk` is not pending.
 */
export class World implements PlanView {
  readonly heads = new Map<string, Operation>();
  readonly rows = new Map<string, DiskEntry>();
  readonly history = new Set<string>();
  readonly staged = new Set<string>();
  readonly ignored = new Set<string>();
  readonly mixed = new Set<string>();
  readonly #wanted: readonly string[] | undefined;
  readonly #placed: readonly string[];
  readonly #received: string;
  readonly #hidden: string;
  readonly #operations = new Map<string, Operation>();
  #number = 0;

  constructor(input: WorldInput) {
    this.#wanted = input.wanted;
    this.#placed = input.placed ?? [];
    this.#received = input.received ?? '';
    this.#hidden = input.hidden ?? '';
    for (const [path, shape] of Object.entries(input.disk ?? {})) this.show(path, shape);
    for (const [path, shape] of Object.entries(input.heads ?? {})) this.head_(path, shape);
    for (const content of input.history ?? '') this.history.add(content);
    for (const content of input.staged ?? '') this.staged.add(content);
    for (const path of input.ignored ?? []) this.ignored.add(path);
    for (const path of input.mixed ?? []) this.mixed.add(path);
  }

  /** The disk comes to show `shape`, as an operation of ant says. */
  show(path: string, shape: Shape): void {
    const made = this.#make(path, shape, ant);
    const { origin, seq, content } = made;
    const { racy, damaged } = shape;
    const left = { fingerprint: fingerprint(shape, seq), racy, damaged };
    const there = shape.kind === 'delete' ? {} : { content: damaged ? undefined : content, ...left };
    this.rows.set(path, { path, dot: { origin, seq }, ...there });
  }

  /** Bee makes a new head of `path`. */
  head_(path: string, shape: Shape): void {
    this.#make(path, shape, bee);
  }

  #make(path: string, shape: Shape, origin: OriginId): Operation {
    this.#number++;
    const before = this.heads.get(path);
    const made = operation(path, shape, { origin, seq: this.#number }, before ? [before] : []);
    this.heads.set(path, made);
    this.#operations.set(dotKey(made), made);
    return made;
  }

  head(path: string): Operation | undefined {
    return this.heads.get(path);
  }

  disk(path: string): DiskEntry | undefined {
    return this.rows.get(path);
  }

  shown(entry: DiskEntry): Operation | undefined {
    return this.#operations.get(dotKey(entry.dot));
  }

  hasLiveBelow(path: string): boolean {
    return [...this.heads.values()].some((head) => isLive(head) && isBelow(head.path, path));
  }

  moved(from: string, path: string): readonly MovedEntry[] {
    const rows = [...this.rows.values()].filter((row) => row.fingerprint && isBelow(row.path, from));
    return rows
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map((row) => {
        const target = path + row.path.slice(from.length);
        const isInTheWay = this.disk(target)?.fingerprint !== undefined;
        return { row, before: this.head(row.path), after: this.head(target), isInTheWay };
      });
  }

  hasDiskBelow(path: string): boolean {
    return [...this.rows.values()].some((row) => row.fingerprint && isBelow(row.path, path));
  }

  movesWhole({ path }: Operation): boolean {
    return !this.mixed.has(path);
  }

  localSource(content: ContentId): ContentSource | undefined {
    if (this.#received.includes(content)) return { from: 'bytes', bytes: Buffer.from(content) };
    if (this.staged.has(content)) return { from: 'staged' };
    for (const { path, content: held, fingerprint: left } of this.rows.values()) {
      if (held === content && left) return { from: 'file', path, fingerprint: left };
    }
    return this.history.has(content) ? { from: 'history' } : undefined;
  }

  isHidden(content: ContentId): boolean {
    return this.#hidden.includes(content);
  }

  ignores(path: string): boolean {
    return [...this.ignored].some((rule) => path === rule || isBelow(path, rule));
  }

  isWanted(path: string): boolean {
    return this.#wanted?.includes(path) ?? true;
  }

  takes({ path }: Operation): boolean {
    return this.#placed.includes(path);
  }

  /** Paths whose head the disk does not show, in the order of the journal: parents first, or for deletes children first. */
  pending(which: 'live' | 'delete'): readonly PendingPath[] {
    const paths = [...this.heads.keys()].sort();
    if (which === 'delete') paths.reverse();
    return paths.flatMap((path) => {
      const head = this.heads.get(path);
      const row = this.rows.get(path);
      if (head === undefined || isLive(head) !== (which === 'live')) return [];
      if (row && !row.damaged && dotKey(row.dot) === dotKey(head)) return [];
      if (which === 'delete' && row?.fingerprint === undefined) return [];
      return [{ path, heads: [head], disk: row }];
    });
  }

  plan(which: 'live' | 'delete'): Plan {
    return planBatch(this.pending(which), this);
  }
}

/** A world, and the plans that are expected in it. */
export interface PlanCase extends WorldInput {
  readonly name: string;
  readonly live?: readonly string[];
  readonly deleted?: readonly string[];
}

/** The plan for the live paths, and then the plan for the deletes, in the same world. */
export function bothPlans(input: WorldInput): { live: readonly string[]; deleted: readonly string[] } {
  const world = new World(input);
  return { live: lines(world.plan('live')), deleted: lines(world.plan('delete')) };
}

/** A plan as text, one line for each item. */
export function lines({ steps, records, needs, waiting, hidden }: Plan): readonly string[] {
  return [
    ...steps.map(({ request }) => line(request.action) + (request.keep === undefined ? '' : `, keep ${request.keep}`)),
    ...records.map(
      ({ path, entry }) => `record ${path}${entry?.fingerprint ? '' : entry?.remote ? ' as remote' : ' as absent'}`,
    ),
    ...needs.map(({ path, content }) => `need ${content} for ${path}`),
    ...waiting.map((path) => `wait ${path}`),
    ...hidden.map(({ path }) => `hidden ${path}`),
  ];
}

function line(action: Action): string {
  const over = 'expected' in action && action.expected !== 'absent' ? ` over ${typeOf(action.expected)}` : '';
  switch (action.do) {
    case 'write': {
      const { from } = action.source;
      const source = action.source.from === 'file' ? action.source.path : from;
      return `write ${action.path}=${action.content} from ${source}${over}`;
    }
    case 'rename':
      return `rename ${action.from} to ${action.to}${over}`;
    case 'rename-directory':
      return `rename-directory ${action.from} to ${action.to} with ${action.names.join(' ')}`;
    case 'mkdir':
      return `mkdir ${action.path} ${action.mode.toString(8)}${over}`;
    case 'symlink':
      return `symlink ${action.path} to ${action.target}${over}`;
    case 'attr':
      return `attr ${action.path} ${action.mode.toString(8)}${action.mtimeUs === undefined ? '' : ` @${action.mtimeUs}`}`;
    case 'unlink':
    case 'rmdir':
      return `${action.do} ${action.path}`;
  }
}

function typeOf({ mode }: Fingerprint): string {
  if (isDirectoryMode(mode)) return 'directory';
  return (mode & 0o170000) === 0o120000 ? 'link' : 'file';
}
