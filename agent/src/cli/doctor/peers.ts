import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import {
  clockSkewMsMax,
  LockstepError,
  type MemberCondition,
  type MemberId,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_MIN,
  removerIn,
  SOFTWARE_VERSION,
} from '@lockstep/shared';
import type { MemberReport } from '@lockstep/shared/api';
import { conditionPhrase, formatElapsed, formatItems, isOffOnPurpose, removerOf } from '@lockstep/shared/present';
import { z } from 'zod';
import { type Probed, probeClock, probeMember } from '../../net/probe.ts';
import { readRegularFile } from '../../os/regular-file.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import { printable, shortId } from '../output/format.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import { judgeNode } from './node-version.ts';
import type { Subject } from './subject.ts';

const reach = resultsOf('peers');
const clock = resultsOf('clock');
const versions = resultsOf('versions');

/** The longest time for a probe; a slower member is of no use to this one either. */
const probeTimeoutMs = 5_000;

/** True if it is no problem that a member in this condition does not answer. */
function isWanted(condition: MemberCondition): boolean {
  return condition === 'left' || isOffOnPurpose(condition);
}

/** The result of probing one address. */
interface Visit {
  readonly address: string;
  readonly probed?: Probed;
  /** How far the clock there is ahead, in milliseconds; it is read to the second, so half a second either way means nothing. */
  readonly skewMs?: number;
  readonly error?: LockstepError;
}

/** The addresses of other members from the settings, from `addresses.json` and from the running agent. */
async function addressesOf({ state, config, running }: Subject): Promise<readonly string[]> {
  const kept = await readRegularFile(join(state, 'addresses.json')).catch(() => '[]');
  const known = z.array(z.string()).catch([]).parse(parseJson(kept));
  const others = running?.status?.members.filter(({ self, state }) => !self && state !== 'left') ?? [];
  const own = new Set(running?.status?.member.addresses);
  const all = [...(config?.peers ?? []), ...known, ...others.flatMap(({ addresses }) => addresses)];
  return [...new Set(all)].filter((address) => !own.has(address));
}

/** True if this user cannot read the addresses in the state directory. */
async function isClosed(state: string): Promise<boolean> {
  const code = await access(join(state, 'addresses.json'), constants.R_OK).then(() => undefined, errorCodeOf);
  return code === 'EACCES';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function visit(address: string, subject: Subject): Promise<Visit> {
  const { identity, clusterKey, running, nowMs } = subject;
  if (identity === undefined || clusterKey === undefined) return { address };
  try {
    // A running agent has proved the key in its own sessions, which this probe must not replace.
    const prove = running === undefined;
    const probed = await probeMember({ address, identity, clusterKey, timeoutMs: probeTimeoutMs, prove });
    const before = nowMs();
    const theirs = await probeClock(address, identity, probeTimeoutMs);
    if (theirs === undefined) return { address, probed };
    return { address, probed, skewMs: theirs + 500 - (before + nowMs()) / 2 };
  } catch (error) {
    if (error instanceof LockstepError) return { address, error };
    throw error;
  }
}

/** True if something answered at the address, and no session with it is possible. */
function isAnswer(error: LockstepError | undefined): boolean {
  return error !== undefined && error.code !== 'unreachable';
}

/** A member's name for people. */
function nameOf(id: MemberId, subject: Subject): string {
  const known = subject.running?.status?.members.find((member) => member.id === id)?.name;
  return known === undefined ? `member ${shortId(id)}` : printable(known);
}

function judgeReach(seen: Visit, reached: ReadonlySet<MemberId>, subject: Subject): CheckResult {
  const { address, probed, error } = seen;
  if (probed !== undefined) {
    const proved = subject.running === undefined ? ', and the cluster key agrees' : '';
    return reach.ok(`${nameOf(probed.memberId, subject)} answers at ${address}${proved}.`);
  }
  const owner = subject.running?.status?.members.find(({ addresses }) => addresses.includes(address));
  // The running agent itself answers there; it would have met a real copy elsewhere and reported it.
  if (subject.running !== undefined && error?.code === 'copied-state')
    return reach.ok(`${address} is this member's own.`);
  if (owner !== undefined && error?.code === 'unreachable' && isWanted(owner.condition))
    return judgeWanted(owner, address);
  const whose = owner === undefined ? '' : ` It is an address of ${printable(owner.name)}.`;
  const said = printable(error?.message ?? `${address} could not be probed without identity and cluster key.`);
  const detail = `${said.replace(/([^.?])$/, '$1.')}${whose}`;
  const remedy =
    error === undefined
      ? 'Repair the identity or the cluster key first, and check again with: lockstep doctor'
      : 'Follow the advice in this message, and check again with: lockstep doctor';
  const isUseless = error?.code === 'unreachable' && [...reached].some((id) => id === owner?.id);
  // If another address of the same member answers, this one is not needed.
  return isUseless ? reach.warn(detail, remedy) : reach.fail(detail, remedy);
}

/** A member that does not answer because a person wanted that. */
function judgeWanted({ name, condition }: MemberReport, address: string): CheckResult {
  const detail = `${printable(name)} ${conditionPhrase(condition)}, and does not answer at ${address}.`;
  if (condition !== 'shut-down') return reach.ok(detail);
  return reach.warn(detail, 'Start it when it is needed: run lockstep up on that machine.');
}

/** Reports that the others removed this member: those that the probes reached say so, or those that the running agent reached. */
function judgeRemoval(visits: readonly Visit[], subject: Subject): readonly CheckResult[] {
  const status = subject.running?.status;
  const refusal = visits.map(({ probed }) => removerIn(probed?.refusal)).find((name) => name !== undefined);
  const remover = (status && removerOf(status)) ?? refusal;
  if (remover === undefined) return [];
  return [
    reach.fail(
      `This member was removed from the cluster by ${printable(remover)}: the others refuse it, and its files are not replicated.`,
      `To take it back, run on ${printable(remover)}: lockstep remove --undo ${printable(wordFor(subject, visits))}`,
    ),
  ];
}

/** The word by which the others take this member: its name, or the start of its id if they know another one of that name. */
function wordFor({ running, config }: Subject, visits: readonly Visit[]): string {
  const { member, members = [] } = running?.status ?? {};
  const name = member?.name ?? config?.name ?? 'NAME';
  const isShared = members.some((other) => !other.self && other.name === name);
  if (member !== undefined && isShared) return member.id.slice(0, 8);
  const said = visits.map(({ probed }) => /--undo (\S+)$/.exec(probed?.refusal ?? '')?.[1]).find((word) => word);
  // A long name may be cut off there.
  return said === undefined || name.startsWith(said) ? name : said;
}

/** Reports refusals and missing sessions of the running agent: while it runs, no probe detects a different key. */
function judgeSessions(
  { running }: Subject,
  visits: readonly Visit[],
  reached: ReadonlySet<MemberId>,
): readonly CheckResult[] {
  const refused = running?.status?.problems.filter(({ code }) => code === 'member-refused') ?? [];
  const results = refused.map(({ detail }) =>
    reach.fail(printable(detail), 'Follow the advice in this message on the member that it names.'),
  );
  // Another result says why there are no sessions.
  if (running?.status !== undefined && (running.status.paused || removerOf(running.status) !== undefined))
    return results;
  const away =
    running?.status?.members.filter(({ self, connected, condition }) => !self && !connected && !isWanted(condition)) ??
    [];
  // The result of the visit says why there is no session with who answers there.
  const refusing = new Set(visits.flatMap(({ address, error }) => (isAnswer(error) ? address : [])));
  for (const { id, name, lastError, addresses } of away) {
    if (addresses.some((address) => refusing.has(address))) continue;
    const detail = `The agent has no session with ${printable(name)}${lastError === undefined ? '' : `: ${printable(lastError)}`}`;
    results.push(
      reach.warn(
        detail.replace(/\.?$/, '.'),
        [...reached].some((member) => member === id)
          ? `${printable(name)} is up and answers: run lockstep status on both machines, and do what their problems say.`
          : `Make sure that ${printable(name)} is up: run lockstep up on that machine.`,
      ),
    );
  }
  return results;
}

function judgeClocks(visits: readonly Visit[], subject: Subject): readonly CheckResult[] {
  // Each member once, however many addresses it answered at.
  const measured = new Map<MemberId, number>();
  for (const { probed, skewMs } of visits) {
    if (probed !== undefined && skewMs !== undefined) measured.set(probed.memberId, skewMs);
  }
  const wrong = [...measured].flatMap(([id, skewMs]) => {
    if (Math.abs(skewMs) <= clockSkewMsMax) return [];
    const way = skewMs > 0 ? 'ahead of' : 'behind';
    const detail = `The clock of ${nameOf(id, subject)} is ${formatElapsed(Math.abs(skewMs))} ${way} this one.`;
    return [clock.fail(detail, 'Let both machines set their clocks from the network: timedatectl set-ntp true')];
  });
  if (wrong.length > 0) return wrong;
  return measured.size === 0
    ? []
    : [
        clock.ok(
          `The ${measured.size === 1 ? 'clock of 1 member agrees' : `clocks of ${measured.size} members agree`} with this one.`,
        ),
      ];
}

function judgeVersions(visits: readonly Visit[], subject: Subject): readonly CheckResult[] {
  const answered = visits.flatMap(({ probed }) => probed ?? []);
  const others = new Map(answered.map((probed) => [probed.memberId, probed]));
  const different = [...others.values()].filter(({ software }) => software !== SOFTWARE_VERSION);
  const [oldest, newest]: readonly number[] = [PROTOCOL_VERSION_MIN, PROTOCOL_VERSION];
  const spoken = oldest === newest ? newest : `${oldest} to ${newest}`;
  const results = different.map(({ memberId, software }) =>
    versions.warn(
      `${nameOf(memberId, subject)} runs Lockstep ${printable(software)}, and this one is ${SOFTWARE_VERSION}: they understand each other.`,
      'Update all members to the later version within days.',
    ),
  );
  const own = subject.running?.status?.member.software;
  if (own !== undefined && own !== SOFTWARE_VERSION) {
    const detail = `The running agent is Lockstep ${own}, and the installed version is ${SOFTWARE_VERSION}.`;
    results.push(versions.warn(detail, 'Start the agent again.'));
  }
  const all = `Lockstep ${SOFTWARE_VERSION}, protocol ${spoken}, Node ${process.versions.node}`;
  results.push(...judgeNode(process.versions.node));
  return [
    versions.ok(others.size === 0 ? `${all}.` : `${all}; ${formatItems(others.size, 'member')} asked.`),
    ...results,
  ];
}

/** Checks that every other member can be reached, has the key and the right time, and speaks a common version. */
export async function checkPeers(subject: Subject): Promise<readonly CheckResult[]> {
  const addresses = await addressesOf(subject);
  const visits = await Promise.all(addresses.map((address) => visit(address, subject)));
  const reached = new Set(visits.flatMap(({ probed }) => probed?.memberId ?? []));
  const found = visits.map((seen) => judgeReach(seen, reached, subject));
  if (addresses.length === 0 && (await isClosed(subject.state))) {
    found.push(
      reach.warn(
        `This user cannot read in ${subject.state} which other members there are.`,
        'Run lockstep doctor as the user of the agent, or as root.',
      ),
    );
  } else if (addresses.length === 0) {
    found.push(
      reach.warn(
        'No other member is known: the files of the folder are on this machine only.',
        'Make another machine a member with this one as --peer, or name one here: peers in .lockstep/config.toml.',
      ),
    );
  }
  return [
    ...found,
    ...judgeRemoval(visits, subject),
    ...judgeSessions(subject, visits, reached),
    ...judgeClocks(visits, subject),
    ...judgeVersions(visits, subject),
  ];
}
