import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LockstepError } from '@lockstep/shared';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type ExitCode, exitCode } from './exit-code.ts';
import { formatMoment } from './format.ts';
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
import { type LabProcess, startLabProcess } from './lab-process.ts';
import { stopSignal } from './stop-signal.ts';
import { formatTable } from './table.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** How often the members are asked: short enough for the times that are shown. */
const followIntervalMs = 100;

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
    .description('The lab: some members on this machine, with folders lab/ant, lab/bee, lab/cat, …')
    .option('--members <COUNT>', 'how many members', wholeNumber(2, labMembersMax))
    .option('--port-base <PORT>', 'agents at PORT+1, …; dashboards at PORT+101, …', wholeNumber(1024, portBaseMax))
    .option('--fresh', 'remove everything in lab/ and begin again')
    .exitOverride()
    .parse([...args], { from: 'user' })
    .opts<LabOptions>();
}

function introduce(terminal: Terminal, members: readonly LabMember[], processes: readonly LabProcess[]): void {
  const here = (path: string) => relative(terminal.cwd, path) || path;
  const rows = members.map(({ name, directory, dashboard }, index) => [
    terminal.paint('bold', name),
    here(directory),
    `http://${dashboard}/`,
    String(processes[index]?.pid ?? '-'),
  ]);
  const [first, second] = members;
  terminal.print(
    [
      formatTable([{ title: 'MEMBER' }, { title: 'FOLDER' }, { title: 'DASHBOARD' }, { title: 'PROCESS' }], rows),
      '',
      `Try: cp -r docs ${here(first?.directory ?? '')}/ and look into ${here(second?.directory ?? '')}; edit one file in two folders at once; kill -9 a process.`,
      'Ctrl-C stops all; the next start goes on from there.',
      '',
    ].join('\n'),
  );
}

/** Tells when a member's process ends that nobody stopped; resolves when all have ended. */
async function watchProcesses(
  processes: readonly LabProcess[],
  isStopping: () => boolean,
  tell: (line: string) => void,
): Promise<void> {
  await Promise.all(
    processes.map(async ({ member, ended }) => {
      const { how, lastWords } = await ended;
      if (isStopping()) return;
      const words = lastWords === undefined ? '' : ` It said: ${lastWords}`;
      tell(`${member.name} ended (${how}).${words} Start it again: npx lockstep up ${member.directory}`);
    }),
  );
}

async function followMembers(
  members: readonly LabMember[],
  isStopping: () => boolean,
  tell: (line: string) => void,
): Promise<void> {
  const followers = members.map((member) => new LabFollower(member));
  const narrator = new LabNarrator();
  while (!isStopping()) {
    const reports = await Promise.all(followers.map((follower) => follower.report()));
    if (isStopping()) return;
    const lines = narrator.observe(
      reports.filter((report) => report !== undefined),
      Date.now(),
    );
    for (const line of lines) tell(line);
    await sleep(followIntervalMs);
  }
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
  let stopping = false;
  const tell = (line: string): void =>
    terminal.print(`${terminal.paint('dim', formatMoment(terminal.nowMs()).slice(11))}  ${line}`);
  const processes = members.map((member) => startLabProcess(member, join(logs, `${member.name}.log`)));
  const ended = watchProcesses(processes, () => stopping, tell);
  const started = Promise.all(processes.map((process) => Promise.race([process.ready, process.ended])));
  const allEnded = ended.then(() => 'ended' as const);

  let outcome = await Promise.race([started.then(() => 'started' as const), signal.received, allEnded]);
  let following: Promise<void> | undefined;
  if (outcome === 'started') {
    introduce(terminal, members, processes);
    following = followMembers(members, () => stopping, tell);
    // A member that was killed may be started again by hand, so the lab goes on even when none of its own is left.
    outcome = await signal.received;
  }
  stopping = true;
  for (const process of processes) process.stop();
  await ended;
  await following;
  signal.dispose();
  if (outcome === 'ended') return exitCode.notDone;
  terminal.print('All members have stopped.');
  return exitCode.done;
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
        ...(options.portBase === undefined ? {} : { portBase: options.portBase }),
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
