import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { loginLinkSchema } from '@lockstep/shared/api';
import { formatNames } from '@lockstep/shared/present';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { recordedSocketPath } from '../../member-dir/instance-lock.ts';
import { apiClient } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { formatMoment } from '../output/format.ts';
import { formatTable } from '../output/table.ts';
import { processTerminal, type Terminal } from '../output/terminal.ts';
import { stopSignal } from '../stop-signal.ts';
import { LabCrew } from './lab-crew.ts';
import { LabFollower } from './lab-follow.ts';
import { LabNarrator } from './lab-narrator.ts';
import {
  type LabMember,
  type LabPlan,
  labMembers,
  labMembersMax,
  portBaseMax,
  readPlan,
  writePlan,
} from './lab-plan.ts';
import { checkPort, clearLab, lockLab, prepareMembers, refuseLeftovers } from './lab-prepare.ts';
import { onTypedLine } from './typed-lines.ts';

interface LabOptions {
  readonly members?: number;
  readonly portBase?: number;
  readonly fresh?: true;
}

function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

function parseOptions(args: readonly string[]): LabOptions {
  return new Command('npm start --')
    .description('The lab: a few members on this machine, with folders lab/ant, lab/bee, lab/cat, …')
    .option('--members <COUNT>', 'the number of members', wholeNumber(2, labMembersMax))
    .option('--port-base <PORT>', 'dashboards at PORT+1, …; agents at PORT+101, …', wholeNumber(1024, portBaseMax))
    .option('--fresh', 'remove everything in lab/ and start from scratch')
    .exitOverride()
    .parse([...args], { from: 'user' })
    .opts<LabOptions>();
}

/** A link to the dashboard of a member, or its address while it does not answer. */
async function linkTo({ directory, dashboard }: LabMember): Promise<string> {
  try {
    return (await apiClient(await recordedSocketPath(directory)).post('/login-link', {}, loginLinkSchema)).url;
  } catch {
    return `http://${dashboard}/`;
  }
}

async function introduce(terminal: Terminal, members: readonly LabMember[], crew: LabCrew): Promise<void> {
  const here = (path: string) => relative(terminal.cwd, path) || path;
  const rows: string[][] = [];
  for (const member of members) {
    rows.push([
      terminal.paint('bold', member.name),
      here(member.directory),
      String(crew.pid(member) ?? '-'),
      await linkTo(member),
    ]);
  }
  const [first, second] = members;
  terminal.print(
    [
      formatTable([{ title: 'MEMBER' }, { title: 'FOLDER' }, { title: 'PROCESS' }, { title: 'DASHBOARD' }], rows),
      '',
      `Try: cp -r docs ${here(first?.directory ?? '')}/ and look into ${here(second?.directory ?? '')}; edit one file in two folders at once; kill -9 a process.`,
      `Each link logs one browser in, within 10 minutes. For another: npx lockstep dashboard ${here(first?.directory ?? '')}`,
      'r and Enter starts members again that ended. Ctrl-C stops all; the next start goes on from there.',
      '',
    ].join('\n'),
  );
}

/** Prints the members' events until the returned function is called. */
function followMembers(
  members: readonly LabMember[],
  sinceMs: number,
  print: (line: string) => void,
): () => Promise<void> {
  const narrator = new LabNarrator();
  const followers = members.map(
    (member) =>
      new LabFollower(member, sinceMs, (event) => {
        const line = narrator.lineOf(member.name, event);
        if (line !== undefined) print(line);
      }),
  );
  const running = Promise.all(followers.map((follower) => follower.run()));
  return async () => {
    for (const follower of followers) follower.stop();
    await running;
  };
}

async function openLab(terminal: Terminal, lab: string, plan: LabPlan): Promise<ExitCode> {
  const members = labMembers(lab, plan);
  for (const { name, listen, dashboard } of members) {
    await checkPort(listen, `member ${name}`);
    await checkPort(dashboard, `the dashboard of member ${name}`);
  }
  await prepareMembers(members);
  await writePlan(lab, plan);
  const logs = join(lab, 'logs');
  await mkdir(logs, { recursive: true });

  const signal = stopSignal();
  const print = (line: string): void =>
    terminal.print(`${terminal.paint('dim', formatMoment(terminal.nowMs()).slice(11))}  ${line}`);
  const startedAt = terminal.nowMs();
  const crew = new LabCrew(members, logs, print);
  const started = crew.start().then((isAnyReady) => (isAnyReady ? 'started' : 'failed'));

  const outcome = await Promise.race([started, signal.received]);
  let unfollow: (() => Promise<void>) | undefined;
  if (outcome === 'started') {
    await introduce(terminal, members, crew);
    unfollow = followMembers(members, startedAt, print);
    const endTyping = onTypedLine((line) => {
      if (line === 'r') void crew.restart().then((names) => print(restarted(names)));
    });
    // A member that was killed may be started again, so the lab continues even if none of its own processes is left.
    await signal.received;
    endTyping();
  }
  await unfollow?.();
  const left = await crew.stop();
  signal.dispose();
  if (outcome === 'failed') return exitCode.notDone;
  terminal.print(left.length === 0 ? 'All members have stopped.' : left.join('\n'));
  return exitCode.done;
}

function restarted(names: readonly string[]): string {
  return names.length === 0
    ? 'All members run.'
    : `${formatNames(names)} ${names.length === 1 ? 'starts' : 'start'} again`;
}

/** Runs the lab in the folder `lab` of the current directory until Ctrl-C. */
export async function runLab(args: readonly string[]): Promise<ExitCode> {
  const terminal = processTerminal();
  try {
    const options = parseOptions(args);
    const lab = join(terminal.cwd, 'lab');
    const lock = await lockLab(lab);
    try {
      await refuseLeftovers(lab);
      if (options.fresh === true) await clearLab(lab);
      const plan = await readPlan(lab, {
        ...(options.members === undefined ? {} : { members: options.members }),
        ...(options.portBase === undefined ? {} : { dashboards: options.portBase }),
      });
      return await openLab(terminal, lab, plan);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.wrongUse;
    if (!(error instanceof LockstepError)) throw error;
    terminal.note(error.message);
    return exitCode.notDone;
  }
}
