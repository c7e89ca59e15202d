import { type Dot, type MemberId, type Operation, type OriginId, parentOf, transactionRowsMax } from '@lockstep/shared';
import { marksOf } from '../core/marks.ts';
import { nextVersion } from '../core/version.ts';
import { openJournal } from '../store/journal.ts';
import { ByteCache } from '../sync/contents/byte-cache.ts';
import { MissingContents } from '../sync/contents/missing-contents.ts';
import { RemoteNames } from '../sync/contents/remote-names.ts';
import { WantedFiles } from '../sync/contents/wanted-files.ts';
import { OperationWriter } from '../sync/members/operation-writer.ts';
import { Peers } from '../sync/members/peers.ts';
import type { Folder } from '../sync/ports/folder.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { Facts } from '../sync/scheduling/facts.ts';
import { Splitter } from '../sync/scheduling/splitter.ts';
import { TrafficLimit } from '../sync/scheduling/traffic-limit.ts';
import { type Context, FolderLock } from '../sync/state/context.ts';
import { Events } from '../sync/state/events.ts';
import { IgnoreFile } from '../sync/state/ignore-file.ts';
import { LastBoot } from '../sync/state/last-boot.ts';
import { OtherHolders } from '../sync/state/other-holders.ts';
import { Problems } from '../sync/state/problems.ts';
import { ReplacedRows } from '../sync/state/replaced-rows.ts';
import { ContentFetcher } from '../sync/transfer/content-fetcher.ts';
import { Life } from './base/life.ts';
import { Random } from './base/random.ts';
import { Scheduler } from './base/scheduler.ts';
import { SimClock, WallClock } from './base/sim-clock.ts';
import { contentOfText } from './disk/content.ts';
import { Volume } from './disk/volume.ts';
import { idleWitness, openSimFolder } from './folder/sim-folder.ts';
import { gateJournal } from './world/journal-gate.ts';

const waitingBytesMax = 1_048_576;

/**
 * The surroundings of one loop: a member's journal, simulated folder and clock, without peers. Operations of others are added to its
 * journal by hand. For tests of single loops.
 */
export class LoneMember {
  readonly id: MemberId;
  readonly scheduler: Scheduler;
  readonly volume: Volume;
  readonly context: Context;
  readonly operationWriter: OperationWriter;
  readonly peers: Peers;
  readonly transfers: ContentFetcher;
  /** Opens its folder, as a start of the agent does. */
  readonly openFolder: () => Folder;
  /** Calls that wrote to the journal. */
  readonly wrote: string[] = [];
  /** Messages that were logged as errors. */
  readonly errors: string[] = [];
  /** Directories whose counter was raised: a name in them is about to be remote. */
  readonly raised: string[] = [];
  readonly #numbers = new Map<OriginId, number>();
  #stamp = 0;

  /**
   * `around`: wraps the folder to inject faults. `keepsBirths`: its disk has birth times. `seed`: differs for the members of one test.
   * `onDemand`: it fetches contents when they are read.
   */
  constructor(
    around: (folder: Folder) => Folder = (folder) => folder,
    {
      keepsBirths = true,
      seed = 1,
      onDemand = false,
      transactionRows = transactionRowsMax,
    }: {
      readonly keepsBirths?: boolean;
      readonly seed?: number;
      readonly onDemand?: boolean;
      readonly transactionRows?: number;
    } = {},
  ) {
    const random = new Random(seed);
    const life = new Life();
    this.id = random.base32(52) as MemberId;
    this.scheduler = new Scheduler(random.fork());
    const { scheduler } = this;
    const wall = new WallClock(scheduler, 0);
    const clock = new SimClock({ scheduler, wall, random: random.fork(), life });
    this.volume = new Volume({ wallMs: () => wall.preciseMs(), keepsBirths });
    const opened = openJournal({
      path: ':memory:',
      memberId: this.id,
      random: () => random.unit(),
      nowMs: () => clock.wallMs(),
      beforeRemote: (path) => this.raised.push(parentOf(path)),
    });
    const journal = gateJournal(opened, life, { wrote: (call) => this.wrote.push(call) });
    this.openFolder = () =>
      openSimFolder({
        memberName: 'ant',
        volume: this.volume,
        scheduler,
        random: random.fork(),
        life,
        wall,
        watch: { delayMsMax: 10, overflowChance: 0 },
        callMsMax: 1,
        canSyncFileSystem: true,
        shown: journal.disk,
        witness: idleWitness,
      });
    const folder = this.openFolder();
    const quiet = (): void => undefined;
    const error = (_: object, message: string): void => void this.errors.push(message);
    const self = { id: this.id, name: 'ant', addresses: [], ...(onDemand && { onDemand }) };
    const facts = new Facts();
    const nameOf = (member: MemberId) => journal.members.all().find(({ id }) => id === member)?.name;
    this.context = {
      facts,
      events: new Events(journal, clock),
      self,
      journal,
      folder: around(folder),
      clock,
      log: { debug: quiet, info: quiet, warn: quiet, error },
      startedAtMs: clock.wallMs(),
      lock: new FolderLock(),
      splitter: new Splitter(clock, transactionRows),
      problems: new Problems(clock, quiet),
      ignored: new IgnoreFile(''),
      hiding: new Set(),
      lastBoot: new LastBoot(),
      replacedRows: new ReplacedRows(),
      missing: new MissingContents(() => facts.contentLost.publish()),
      others: new OtherHolders(self.id, journal),
      wanted: new WantedFiles(onDemand, journal.settings),
      remoteNames: new RemoteNames(journal, { raise: (directory) => void this.raised.push(directory) }),
      receivedBytesCache: new ByteCache(waitingBytesMax),
      sentBytesCache: new ByteCache(waitingBytesMax),
      limits: {
        send: new TrafficLimit({ clock, facts }, nameOf),
        receive: new TrafficLimit({ clock, facts }, nameOf),
      },
    };
    this.operationWriter = new OperationWriter(this.context, { ensure: quiet });
    this.peers = new Peers(this.context, {
      message: quiet,
      closed: quiet,
      helloMessage: () => {
        throw new Error('a lone member sends no hello');
      },
    });
    this.transfers = new ContentFetcher(this.context, this.peers);
  }

  get journal(): Journal {
    return this.context.journal;
  }

  /** An operation of another member, or of this one, as it would be received. `text`: the content of the file. It is not journaled. */
  operation(
    path: string,
    entry: { readonly kind: Operation['kind']; readonly text?: string; readonly replaced?: string },
    options: {
      readonly origin?: OriginId;
      readonly parents?: readonly Operation[];
      /** The parents that a join repeats. */
      readonly keeps?: readonly Operation[];
    } = {},
  ): Operation {
    const { origin = this.journal.origin, parents = [], keeps } = options;
    const seq = (this.#numbers.get(origin) ?? 0) + 1;
    this.#numbers.set(origin, seq);
    this.#stamp += 1024;
    const content = entry.text === undefined ? undefined : contentOfText(entry.text);
    const version = nextVersion({ origin, seq }, parents, this.journal.heads.at(path));
    const markOf = (dot: Dot): string | undefined => this.journal.log.mark(dot.origin, dot.seq);
    const marks = marksOf(origin, version, { markOf, parents });
    return {
      origin,
      seq,
      hlc: this.#stamp,
      kind: entry.kind,
      path,
      version,
      ...(entry.kind === 'mkdir' && { mode: 0o755 }),
      ...(content && { content: content.id, size: content.size, mode: 0o644, mtimeUs: 1_000_000 }),
      ...(entry.replaced !== undefined && { replaced: contentOfText(entry.replaced).id }),
      ...(marks && { marks }),
      ...(keeps && { keeps: keeps.map((kept) => ({ origin: kept.origin, seq: kept.seq })) }),
    };
  }

  /** Journals operations, oldest first. */
  received(...operations: readonly Operation[]): void {
    this.journal.append(operations);
  }

  /** Adds the content to this member's history. */
  keeps(text: string): void {
    this.volume.keep(contentOfText(text));
  }

  /** Runs virtual time. */
  async passes(ms: number): Promise<void> {
    await this.scheduler.run(this.scheduler.nowMs + ms);
  }
}
