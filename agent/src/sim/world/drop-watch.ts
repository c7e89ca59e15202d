import { type ContentId, type MemberId, memberOf, type Operation, type WantMessage } from '@lockstep/shared';
import type { DiskChange } from '../../core/entry.ts';
import type { Rule } from '../base/violation.ts';
import { type Ledger, type ValueKey, valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';
import { durableValuesOn, isRottenUnseen } from './values.ts';

/** The parts of the world that the rules Kept and Copies look at. */
interface Parts {
  readonly ledger: Ledger;
  /** Members that are not destroyed. */
  remaining(): readonly Machine[];
  violate(rule: Rule, reason: string): void;
}

/** Checks each file that a member on demand drops. */
export class DropWatch {
  readonly #parts: Parts;
  /** The paths of the remote rows of each machine. */
  readonly #remote = new Map<Machine, Set<string>>();
  /** By machine and path: the content that its disk had when another member asked last whether it keeps it. */
  readonly #hadWhenAsked = new Map<Machine, Map<string, ContentId>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A question of another member reaches a machine. */
  asked(machine: Machine, { keep, content, path }: WantMessage): void {
    if (!keep) return;
    const had = this.#hadWhenAsked.get(machine) ?? new Map();
    this.#hadWhenAsked.set(machine, had);
    const { disk } = machine.volume;
    const inode = disk.at(path);
    if (inode?.content?.id === content && !disk.cache.isDirty(inode)) had.set(path, content);
    else had.delete(path);
  }

  /**
   * A file that is recorded as remote is dropped next: another machine must have its content, and have it after a power cut too, or as many as
   * copies are wanted. Copies with damage that was not found yet count as copies, and so do those rewritten since their member was asked.
   */
  recorded(machine: Machine, rows: readonly DiskChange[]): void {
    const { ledger } = this.#parts;
    const remote = this.#remote.get(machine) ?? new Set();
    this.#remote.set(machine, remote);
    for (const { path, entry } of rows) {
      const value = valueAt(machine.volume.disk.at(path));
      // The path of a row that was remote before may have a file that its user wrote there since: nothing removes it.
      const wasRemote = remote.has(path);
      if (entry?.remote) remote.add(path);
      else remote.delete(path);
      if (entry?.remote !== true || wasRemote || value === undefined) continue;
      const head = machine.journal.heads.at(path).find(({ content }) => content === value);
      // One that a user has deleted or replaced elsewhere meanwhile is not owed.
      if (head !== undefined && ledger.isOwed(value)) this.#check(machine, head, value);
    }
  }

  #check(machine: Machine, { path, origin }: Operation, value: ValueKey): void {
    const all = this.#parts.remaining().filter((other) => other !== machine);
    const others = all.filter((other) => durableValuesOn(other).has(value) || this.#isRewritten(other, path, value));
    const seeming = all.filter((other) => isRottenUnseen(other, path, value));
    const wanted = machine.engine?.copies.placement.rules.copiesOf(path) ?? 'all';
    const what = `${machine.name} drops ${this.#parts.ledger.nameOf(value)} at ${path}, which`;
    if (others.length === 0) {
      this.#parts.violate('Kept', `${what} no other machine has`);
    } else if (wanted !== 'all') {
      // A file that was only read here is no copy of its own. Members that are away and count have theirs, as far as is known.
      const away = memberOf(origin) === machine.id ? [] : awayOf(machine);
      const counted = new Set([...[...others, ...seeming].map(({ id }) => id), ...away]);
      const had = `${what} only ${others.length} others have`;
      if (counted.size < wanted) this.#parts.violate('Copies', `${had}, of ${wanted} wanted`);
    }
  }

  /** True if the machine had the value durably when it was asked, and its user has written the same bytes over it since. */
  #isRewritten(machine: Machine, path: string, value: ValueKey): boolean {
    const { disk } = machine.volume;
    const inode = disk.at(path);
    if (inode === undefined || this.#hadWhenAsked.get(machine)?.get(path) !== value) return false;
    return valueAt(inode) === value && disk.cache.isOnlyRewritten(inode);
  }
}

/** The members with which a machine has no session, and whose copies count all the same. */
function awayOf({ engine }: Machine): MemberId[] {
  if (engine === undefined) return [];
  const { peers, copies } = engine;
  return peers.all().flatMap(({ id, ready }) => (!ready && copies.placement.counts(id) ? [id] : []));
}
