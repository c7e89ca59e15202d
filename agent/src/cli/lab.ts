import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type ExitCode, exitCode } from './exit-code.ts';
import { formatMoment, printable } from './format.ts';
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
    .option('--port-base <PORT>', 'agents at PORT+1, …; dashboards at PORT+101, …', wholeNumber(1024, portBaseMax))
    .option('--fresh', 'remove everything in lab/ and start from scratch')
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

/** Reports each process of a member that ends without being stopped; resolves when all have ended. */
async function watchProcesses(
  processes: readonly LabProcess[],
  isStopping: () => boolean,
  print: (line: string) => void,
): Promise<void> {
  await Promise.all(
    processes.map(async ({ member, ended }) => {
      const { how, lastWords } = await ended;
      if (isStopping()) return;
      const words = lastWords === undefined ? '' : ` Its last line: ${printable(lastWords)}`;
      print(`${member.name} ended (${how}).${words} Start it again: npx lockstep up ${member.directory}`);
    }),
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
  let stopping = false;
  const print = (line: string): void =>
    terminal.print(`${terminal.paint('dim', formatMoment(terminal.nowMs()).slice(11))}  ${line}`);
  const startedAt = terminal.nowMs();
  const processes = members.map((member) => startLabProcess(member, join(logs, `${member.name}.log`)));
  const ended = watchProcesses(processes, () => stopping, print);
  const starts = processes.map(({ ready, ended: gone }) =>
    Promise.race([ready.then(() => true), gone.then(() => false)]),
  );
  const started = Promise.all(starts).then((serving) => (serving.includes(true) ? 'started' : 'failed'));

  const outcome = await Promise.race([started, signal.received]);
  let unfollow: (() => Promise<void>) | undefined;
  if (outcome === 'started') {
    introduce(terminal, members, processes);
    unfollow = followMembers(members, startedAt, print);
    // A member that was killed may be started again by hand, so the lab continues even if none of its own processes is left.
    await signal.received;
  }
  stopping = true;
  await unfollow?.();
  for (const process of processes) process.stop();
  await ended;
  signal.dispose();
  if (outcome === 'failed') return exitCode.notDone;
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
