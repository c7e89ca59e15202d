import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatHostPort, LockstepError, type MemberId, parentOf } from '@lockstep/shared';
import type { StartUp } from '@lockstep/shared/present';
import type { ConfigOverrides, LoadedConfig } from './config/load-config.ts';
import { openFolder } from './fs/open-folder.ts';
import { HealthWatch } from './health/health.ts';
import { webhookId } from './health/webhook.ts';
import { Access, type LoginLink } from './http/access/access.ts';
import { answerControl } from './http/queries/control/answer-control.ts';
import { limitNotes } from './http/queries/rate-limits.ts';
import { readStartUp } from './http/queries/start-up.ts';
import { readStatus } from './http/queries/status.ts';
import type { Place, ServedMember } from './http/served-member.ts';
import { type HttpServer, startHttp } from './http/server.ts';
import { sessionFile, tokenFile } from './member-dir/access-files.ts';
import { type DashboardTls, guardDashboard } from './member-dir/dashboard-guard.ts';
import { openIdentity } from './member-dir/identity-files.ts';
import { ownSocketPath } from './member-dir/instance-lock.ts';
import { joinRecipe, thisMachine } from './member-dir/join-recipe.ts';
import { KnownAddresses } from './member-dir/known-addresses.ts';
import { passwordCheck } from './member-dir/password-file.ts';
import { SettingsFile } from './member-dir/settings-file.ts';
import { clusterKeyPath, remoteCountersPath, statePath } from './member-dir/state-directory.ts';
import { loadClusterKey } from './net/keys/cluster-key.ts';
import type { Identity } from './net/keys/identity.ts';
import { type OpenNetwork, openNetwork, reachableAt } from './net/network.ts';
import { replayInto } from './offline/replay.ts';
import { BlockBuffers } from './os/block-buffers.ts';
import { CounterFile } from './os/counter-file.ts';
import { loadMeter, nodeClock, readBoot } from './os/node-clock.ts';
import { shellWord } from './os/shell-word.ts';
import type { SetAside } from './store/journal.ts';
import { openRunningJournal, type RunningJournal } from './store/running-journal.ts';
import { createEngine, type Engine } from './sync/engine.ts';
import { latencyIntake } from './sync/measurements/latency-intake.ts';
import type { Folder } from './sync/ports/folder.ts';
import type { Journal } from './sync/ports/journal.ts';
import type { Log } from './sync/ports/log.ts';

/** The interval at which the agent checks whether a damaged journal that was put aside still exists. */
const setAsideLookMs = 1_000;

export interface AgentOptions {
  /** The member's folder; its state directory has been checked and is locked by this process. */
  readonly directory: string;
  readonly loaded: LoadedConfig;
  /** The options that override the settings file. */
  readonly overrides: ConfigOverrides;
  readonly log: Log;
  /**
   * The state directory is, or may be, a copy or a backup of one that is gone. Its journal may lack the last operations of the original.
   */
  readonly adopted?: boolean | undefined;
  /** A member that left the cluster joins it again; without this it is refused. */
  readonly rejoin?: boolean | undefined;
}

/** A running member. */
export interface Agent {
  /** Resolves when the member is active: in sync with the others, and its folder compared with the journal. */
  readonly ready: Promise<void>;
  /** Resolves when the member has been retired and should be stopped. */
  readonly retired: Promise<void>;
  /** `host:port` at which it listens for members. */
  readonly address: string;
  readonly dashboardUrl: string;
  /** The path of the socket for commands. */
  readonly socketPath: string | undefined;
  /** A new link that logs one browser in to the dashboard. */
  loginLink(): LoginLink;
  /** How far its start has come. */
  startUp(): StartUp;
  stop(): Promise<void>;
}

/**
 * Starts the member whose folder is `directory`: opens the adapters, connects them to the engine, and serves. It is the only place that
 * knows both adapters and loops. Throws a LockstepError for everything that a person must repair first.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { directory, log } = options;
  const { config } = options.loaded;
  const state = statePath(directory);
  const keys = await readKeys(options);
  const { memberId } = keys.identity;
  const closing: (() => Promise<void> | void)[] = [];
  // In reverse order, also after an error in between.
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const remoteCounters = config.content === 'on-demand' ? openRemoteCounters(directory, log) : undefined;
    closing.push(() => remoteCounters?.close());
    const { journal, setAside, close } = await openJournal(options, memberId, remoteCounters);
    closing.push(close);
    continueJournal(journal, options, memberId);

    const buffers = new BlockBuffers();
    const folder = await openFolder({
      root: directory,
      stateDirectory: state,
      memberName: config.name,
      log,
      shown: journal.disk,
      buffers,
      onFatal: workerEnded,
    });
    closing.push(() => folder.close());
    const { listen, compression } = config;
    const network = await openNetwork({ ...keys, listen, log, buffers, compression });
    closing.push(() => network.close());
    const { known, addresses } = await KnownAddresses.open(join(state, 'addresses.json'), log);
    closing.push(() => known.flushed());

    const engine = await makeEngine(options, { memberId, addresses, journal, folder, network, remoteCounters });
    storeAddresses(engine, known);
    // The file has addresses of others only if the journal once had their entries.
    const isLost = setAside === undefined && addresses.length > 0 && journal.log.length() === 0;
    if (setAside !== undefined) closing.push(reportRebuild(engine, setAside));

    const place = {
      folder: directory,
      address: formatHostPort(network.address),
      dashboard: '',
      startedMs: nodeClock.monotonicMs(),
    };
    const health = watchHealth(options, engine, place);
    closing.push(() => health.stop());
    const { member, retired } = servedMember(options, { engine, network, remoteCounters, health, place });
    network.onControl((from, request) => answerControl(member, from, request));
    const http = await serve(options, member, keys);
    place.dashboard = http.url;
    closing.push(() => http.close());
    closing.push(() => engine.stop());
    closing.push(() => health.stop());

    const ready = engine.start();
    if (isLost) reportLost(engine, ready);
    return {
      ready,
      retired,
      address: place.address,
      dashboardUrl: http.url,
      socketPath: http.socketPath,
      loginLink: http.loginLink,
      startUp: () => readStartUp(engine),
      stop: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The secrets by which a member proves what it is to other members, and to browsers. */
interface Keys {
  readonly identity: Identity;
  readonly clusterKey: Uint8Array;
  /** The certificate of the dashboard; undefined if its connections are not encrypted. */
  readonly tls: DashboardTls | undefined;
}

async function readKeys({ directory, loaded: { config }, log }: AgentOptions): Promise<Keys> {
  return {
    tls: await guardDashboard(directory, config),
    identity: await openIdentity(statePath(directory), log),
    clusterKey: await loadClusterKey(clusterKeyPath(directory)),
  };
}

function openJournal(
  { directory, log }: AgentOptions,
  memberId: MemberId,
  remoteCounters: CounterFile | undefined,
): Promise<RunningJournal> {
  return openRunningJournal({
    path: join(statePath(directory), 'journal.db'),
    memberId,
    beforeRemote: (path) => remoteCounters?.raise(parentOf(path)),
    random: nodeClock.random,
    nowMs: nodeClock.wallMs,
    // Ends the process with this sentence: what was written last may be lost, and the next start finds it again in the folder.
    diskFailed: (error) =>
      setImmediate(() => {
        throw error;
      }),
    log,
  });
}

/** Prepares the journal for operations of this run. Throws `member-left` if the member has left the cluster and does not join again. */
function continueJournal(journal: Journal, { adopted, rejoin, directory }: AgentOptions, memberId: MemberId): void {
  if (adopted) journal.renewOrigin();
  if (rejoin !== true) refuseLeft(journal, memberId, directory);
}

/** An engine's adapters, its member, and the `addresses` of the other members in the last run. */
interface EngineParts {
  readonly memberId: MemberId;
  readonly addresses: readonly string[];
  readonly journal: Journal;
  readonly folder: Folder;
  readonly network: OpenNetwork;
  readonly remoteCounters: CounterFile | undefined;
}

async function makeEngine(
  { loaded: { config }, log }: AgentOptions,
  { memberId, addresses, journal, folder, network, remoteCounters }: EngineParts,
): Promise<Engine> {
  return createEngine({
    identity: {
      id: memberId,
      name: config.name,
      addresses: config.addresses.length > 0 ? config.addresses : reachableAt(network.address),
      webhook: webhookId(config.notifyWebhook),
      ...(config.mayBeAway && { mayBeAway: true as const }),
      ...(config.content === 'on-demand' && { onDemand: true as const }),
    },
    // A journal with operations also knows the members, and their addresses are newer.
    peers: journal.log.length() === 0 ? [...config.peers, ...addresses] : config.peers,
    ...{ journal, folder, network, remoteCounters, log },
    clock: nodeClock,
    load: loadMeter(),
    boot: readBoot(),
    settings: config,
  });
}

/** Keeps the addresses of the other members for a start without the journal. */
function storeAddresses(engine: Engine, known: KnownAddresses): void {
  engine.events.onAdded(() => {
    const others = addressesOfOthers(engine);
    // A journal that was lost has no members until one has answered.
    if (others.length > 0) known.set(others);
  });
}

function watchHealth({ directory, loaded: { config }, log }: AgentOptions, engine: Engine, place: Place): HealthWatch {
  return new HealthWatch({
    path: join(statePath(directory), 'health.db'),
    settings: config,
    problems: engine.context.problems,
    clock: nodeClock,
    log,
    readStatus: () => readStatus(engine, place),
    sameWebhook: () => membersWithWebhook(engine),
    takeLatencies: latencyIntake(engine),
  });
}

/** The parts of a member that its routes use. */
interface ServedParts {
  readonly engine: Engine;
  readonly network: OpenNetwork;
  readonly remoteCounters: CounterFile | undefined;
  readonly health: HealthWatch;
  readonly place: Place;
}

/** The member as its routes see it. `retired` resolves when one of them has retired it. */
function servedMember(
  { directory, loaded, overrides, log }: AgentOptions,
  { engine, network, remoteCounters, health, place }: ServedParts,
): { readonly member: ServedMember; readonly retired: Promise<void> } {
  const { config } = loaded;
  let retire: () => void = () => undefined;
  const retired = new Promise<void>((resolve) => {
    retire = resolve;
  });
  const settings = new SettingsFile({
    ...{ directory, loaded, overrides, log },
    notesOf: (key) => limitNotes(engine, key),
    apply: (changed) => {
      engine.change(changed);
      health.change(changed);
    },
  });
  const member: ServedMember = {
    ...{ engine, remoteCounters, place, health, settings },
    control: {
      allows: config.allowControl,
      ask: (address, id, request) => network.control(address, id, request),
    },
    joinRecipe: joinRecipe(directory, { ...config, listen: network.address }, thisMachine()),
    retired: retire,
    replay: (into, signal) => replayInto(engine, into, signal),
  };
  return { member, retired };
}

/** Serves the API and the dashboard. */
async function serve(
  { directory, loaded: { config }, log }: AgentOptions,
  member: ServedMember,
  { identity: { memberId }, tls }: Keys,
): Promise<HttpServer> {
  const state = statePath(directory);
  const access = await Access.open({
    memberId,
    sessionStore: sessionFile(join(state, 'sessions.json'), log),
    tokenStore: tokenFile(join(state, 'tokens.json'), log),
    password: await passwordCheck(directory, log),
    isSecure: tls !== undefined,
    nowMs: nodeClock.wallMs,
    log,
  });
  return startHttp({
    ...{ member, access, tls, log },
    listen: config.dashboard,
    socketPath: ownSocketPath(directory),
    assets: fileURLToPath(new URL('../../dashboard/dist', import.meta.url)),
  });
}

/** Without the counters, a mount asks for each name. */
function openRemoteCounters(directory: string, log: Log): CounterFile | undefined {
  try {
    return new CounterFile(remoteCountersPath(directory));
  } catch (error) {
    log.warn(
      { error: String(error) },
      '.lockstep/remote-counters cannot be written: files are made more slowly in a mount',
    );
    return undefined;
  }
}

/**
 * Ends the program with code 1, as an error in a timer does. Without the thread that reads and writes its folder, an agent would look
 * healthy and replicate nothing. A service manager starts it again, and it continues where it was.
 */
function workerEnded(error: Error): never {
  throw new LockstepError(
    'worker-ended',
    `The thread that reads and writes the folder ended (${error.message}), so the agent ended too. Nothing is lost: start it again ` +
      '(lockstep up). If this happens again, give the agent more memory, and report it with its log.',
    { cause: error },
  );
}

/** Refuses to start a retired member. It must not come back because a service manager or a user out of habit starts it. */
function refuseLeft(journal: Journal, memberId: MemberId, directory: string): void {
  const record = journal.members.all().find(({ id }) => id === memberId);
  if (record?.membership !== 'left') return;
  throw new LockstepError(
    'member-left',
    `${record.name} has left the cluster, and its files are no longer replicated. To join again with what is in ${directory} ` +
      `now: lockstep up --rejoin ${shellWord(directory)}`,
  );
}

function addressesOfOthers({ context: { journal, self } }: Engine): readonly string[] {
  const others = journal.members.all().filter(({ id, membership }) => id !== self.id && membership === 'joined');
  return others.flatMap((member) => member.addresses);
}

/** The other members that are heard and tell people by the same webhook. */
function membersWithWebhook({ context: { self }, peers }: Engine): readonly MemberId[] {
  return peers
    .ready()
    .flatMap(({ id, said }) => (self.webhook !== undefined && said?.webhook === self.webhook ? [id] : []));
}

/** Reports a rebuilt journal until the damaged one is deleted. Returns a function that ends the checks. */
function reportRebuild(engine: Engine, { path, reason }: SetAside): () => void {
  const { problems } = engine.context;
  const detail =
    `The journal was damaged (${reason}). It was put aside as ${path} and is being rebuilt from the folder and the other members; ` +
    'nothing in the folder was changed. Check the disk, then delete the old file.';
  problems.set('journal-rebuilt', {}, detail);
  const timer = setInterval(() => {
    if (existsSync(path)) return;
    problems.clear('journal-rebuilt');
    clearInterval(timer);
  }, setAsideLookMs);
  return () => clearInterval(timer);
}

/** Reports a lost journal until it has been rebuilt. */
function reportLost({ context: { problems, log } }: Engine, ready: Promise<void>): void {
  const detail =
    'The journal was gone. It is being rebuilt from the folder and the other members; nothing in the folder was changed.';
  problems.set('journal-rebuilt', {}, detail);
  ready.then(
    () => problems.clear('journal-rebuilt'),
    () => log.warn({}, 'the journal was not rebuilt'),
  );
}
