import { type Applied, carriedTimeUs, entryType, type MemberId, type Operation } from '@lockstep/shared';
import type { PathReport } from '@lockstep/shared/api';
import { conditionPhrase } from '@lockstep/shared/present';
import { isConflictPath, originalPath } from '../../../core/conflict-name.ts';
import { holds } from '../../../core/durability.ts';
import { isDirectoryMode, permissions } from '../../../core/entry.ts';
import { countBeyond } from '../../../core/version.ts';
import type { Engine } from '../../../sync/engine.ts';
import type { Peer } from '../../../sync/members/peer.ts';
import { conditionOf, ownCondition } from '../members.ts';
import { reportLogged, reportOperation } from '../operations.ts';
import { asSentence } from '../sentence.ts';
import { shownBy } from '../shown-by.ts';
import { conflictCopies } from './tree.ts';

const logRows = 50;
const nobodyAsked = { keepers: [], silent: new Set<MemberId>() };

/** This member's knowledge of a path, after it has asked the members on demand whether they have the file. */
export async function askForPath(engine: Engine, path: string): Promise<PathReport> {
  const { peers, search, context } = engine;
  const sought = context.journal.heads
    .at(path)
    .flatMap(({ content }) => (content === undefined ? [] : [{ content, path }]));
  if (sought.length === 0 || !peers.ready().some(({ id }) => peers.isOnDemand(id))) return readPath(engine, path);
  const silent = new Set<MemberId>();
  const keepers = await search.searchKeepers(sought, silent);
  return readPath(engine, path, { keepers: keepers.get(path) ?? [], silent });
}

/**
 * This member's knowledge of a path: its versions, the members that hold it, the reasons why it waits. `keepers` are those that said that they
 * have the file, and `silent` those that did not answer.
 */
export function readPath(engine: Engine, path: string, { keepers, silent }: Asked = nobodyAsked): PathReport {
  const { journal, problems, ignored, self } = engine.context;
  const heads = journal.heads.at(path);
  const row = journal.disk.at(path);
  const [visible] = heads;
  const shown = row && journal.log.operation(row.dot);
  const applied = shownBy(engine, self.id, journal.applied());
  const pending = visible !== undefined && !holds(applied, visible);
  // The entries of a directory that cannot be listed are not known, and the directory has the problem.
  const unread = engine.localChanges.unreadAbove(path);
  const ofPath = problems.ofPath(path);
  const problem = ofPath ?? (unread === undefined ? undefined : problems.ofPath(unread));
  const { own, others, left } = holdersOf(engine, heads, { keepers, silent });
  const why = ofPath?.detail ?? engine.applyLoop.reason(path) ?? 'it waits for its turn';
  const waitsFor = [
    ...(pending ? [{ member: self.id, reason: asSentence(why, path) }] : []),
    ...(heads.length > 1 ? [{ reason: 'It has concurrent versions that no member has joined yet.' }] : []),
    ...(heads.length === 0 ? [] : others.filter(({ isShown }) => !isShown).map((other) => waitFor(engine, other))),
  ];
  const remote = row?.remote === true;
  const fingerprint = row?.fingerprint;
  return {
    path,
    known: heads.length > 0 || fingerprint !== undefined,
    ignored: ignored.ignores(path, fingerprint !== undefined && isDirectoryMode(fingerprint.mode)),
    heads: heads.map((head) => reportOperation(engine, head)),
    disk: row
      ? {
          type: fingerprint === undefined || shown === undefined ? 'absent' : diskType(entryType(shown)),
          size: fingerprint?.size,
          mode: fingerprint && permissions(fingerprint.mode),
          mtimeMs: fingerprint && carriedTimeUs(fingerprint.mtimeMs * 1_000) / 1_000,
          origin: row.dot.origin,
          seq: row.dot.seq,
        }
      : null,
    remote,
    changing: engine.localChanges.isOpen(path) || unread !== undefined || undefined,
    pending,
    behind: operationsBehind(engine),
    waitsFor,
    // No member holds a path that no operation names.
    holders: heads.length === 0 ? [] : [own, ...others, ...left].map(({ isShown, ...holder }) => holder),
    copies: visible && copiesOf(engine, visible),
    problem: problem ? { ...problem } : null,
    conflictCopies: conflictCopies(journal.tree, path),
    copyOf: isConflictPath(path) ? originalPath(path) : undefined,
    log: journal.log
      .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: logRows })
      .map((logged) => reportLogged(engine, logged)),
  };
}

/** The members that were asked for a file: those that have it, and those that did not answer. */
interface Asked {
  readonly keepers: readonly MemberId[];
  readonly silent: ReadonlySet<MemberId>;
}

/** A member as a holder of a path. `isShown`: it has applied all heads. */
type Holder = PathReport['holders'][number] & { readonly isShown: boolean };

/** This member, the others, and those that left and may have the only copy: the holders of a path with these heads. */
function holdersOf(engine: Engine, heads: readonly Operation[], { keepers, silent }: Asked) {
  const { journal, self } = engine.context;
  const [visible] = heads;
  const isFile = visible?.content !== undefined;
  const isRemote = visible !== undefined && journal.disk.at(visible.path)?.remote === true;
  const shows = (by: Applied): boolean => heads.every((head) => holds(by, head));
  const holderOf = (peer: Peer): Holder => {
    const onDemand = isFile ? engine.peers.record(peer.id)?.onDemand : undefined;
    const isShown = shows(shownBy(engine, peer.id, peer.saidApplied));
    const about = { member: peer.id as string, name: engine.peers.nameOf(peer.id) };
    const has = onDemand ? keepers.includes(peer.id) : isShown;
    const unknown: true | undefined = onDemand && !has && (!peer.ready || silent.has(peer.id)) ? true : undefined;
    const had: true | undefined = unknown && hadLast(peer, visible) ? true : undefined;
    return { ...about, condition: conditionOf(engine, peer), holds: has, onDemand, unknown, had, isShown };
  };
  const isShown = shows(shownBy(engine, self.id, journal.applied()));
  const own: Holder = {
    ...{ member: self.id as string, name: self.name, condition: ownCondition(engine) },
    ...{ holds: isShown && !isRemote, onDemand: isFile ? self.onDemand : undefined, isShown },
  };
  const peers = engine.peers.all();
  const others = peers.filter(({ state }) => state !== 'left').map(holderOf);
  // A member that left is not asked and not waited for; but if no other member has the file, a person may get it back from there.
  const isHeld = [own, ...others].some((holder) => holder.holds);
  const keptBy = isHeld ? [] : peers.filter((peer) => peer.state === 'left' && tookAlong(engine, peer, visible));
  const left = keptBy.map(holderOf).map((holder): Holder => ({ ...holder, holds: false, unknown: true, had: true }));
  return { own, others, left };
}

/** The reason why another member does not show a path yet. */
function waitFor(engine: Engine, { member, name, condition }: Holder): PathReport['waitsFor'][number] {
  if (engine.pause.isOn) return { member, reason: 'This member is paused.' };
  const reason = condition === 'active' ? `${name} has not applied it yet.` : `${name} ${conditionPhrase(condition)}.`;
  return { member, reason };
}

/** Operations that another member knows and this one does not: the most of any that has not left. */
function operationsBehind({ peers, context }: Engine): number {
  const known = context.journal.log.known();
  const others = peers.all().filter(({ state }) => state !== 'left');
  return Math.max(0, ...others.map((peer) => countBeyond(peer.known, known)));
}

function hadLast({ lastHoldings }: Peer, head: Operation | undefined): boolean {
  return head?.content !== undefined && lastHoldings?.mayHave(head.content) === true;
}

/** Whether a member that left may have the content still. */
function tookAlong({ context: { others } }: Engine, peer: Peer, head: Operation | undefined): boolean {
  if (head?.content === undefined) return false;
  return peer.lastHoldings === undefined ? others.hadIt(peer.id, head) : hadLast(peer, head);
}

function copiesOf({ copies, peers }: Engine, head: Operation): PathReport['copies'] {
  if (head.content === undefined) return undefined;
  const { wanted, onDemand, unplaced } = copies.placement.of(head);
  if (wanted === 'all') return undefined;
  return { wanted, placedOn: onDemand.map((id) => peers.nameOf(id)), unplaced };
}

function diskType(type: ReturnType<typeof entryType>): 'file' | 'directory' | 'symlink' | 'absent' {
  return type === 'member' ? 'absent' : type;
}
