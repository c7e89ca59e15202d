import type { LoggedOperation, Status } from '@lockstep/shared';
import { isConflictPath } from '../core/conflict-name.ts';
import { formatElapsed, plural, printable } from './format.ts';

/** What one member said at one moment: its status, and the operations it has journaled since it was last asked. */
export interface LabReport {
  readonly name: string;
  readonly status: Status;
  readonly operations: readonly LoggedOperation[];
}

/** Changes made in one folder that have not yet reached the others. */
interface Burst {
  readonly startedAt: number;
  written: number;
  removed: number;
  renamed: number;
  other: number;
}

/** A change of state in words; states that are only passing are not told. */
const stateWords: Readonly<Partial<Record<Status['member']['state'], string>>> = {
  syncing: 'is catching up',
  active: 'is up',
  down: 'is down',
  left: 'has left the cluster',
};

function describe(burst: Burst): string {
  const parts = [
    ...(burst.written > 0 ? [plural(burst.written, 'file')] : []),
    ...(burst.renamed > 0 ? [`${plural(burst.renamed, 'rename')}`] : []),
    ...(burst.removed > 0 ? [`${plural(burst.removed, 'removal')}`] : []),
    ...(burst.other > 0 ? [plural(burst.other, 'other change')] : []),
  ];
  return parts.join(', ');
}

/** Turns what the lab's members say of themselves into lines for the person who watches. */
export class LabNarrator {
  readonly #states = new Map<string, Status['member']['state']>();
  readonly #catchUps = new Map<string, { readonly startedAt: number; readonly total: number }>();
  readonly #bursts = new Map<string, Burst>();
  readonly #problems = new Map<string, string>();
  readonly #conflicts = new Set<string>();

  /** The lines for what has happened since the last call. */
  observe(reports: readonly LabReport[], nowMs: number): readonly string[] {
    return [
      ...this.#tellStates(reports, nowMs),
      ...reports.flatMap((report) => this.#tellConflicts(report)),
      ...reports.flatMap((report) => this.#tellChanges(report, nowMs)),
      ...this.#tellProblems(reports),
    ];
  }

  /** A member's own word counts for itself; of who does not answer, the others' word counts. */
  #tellStates(reports: readonly LabReport[], nowMs: number): readonly string[] {
    const said = new Map<string, Status['member']['state']>();
    for (const { status } of reports) {
      for (const member of status.members) if (!member.self) said.set(member.name, member.state);
    }
    for (const { name, status } of reports) said.set(name, status.member.state);

    const lines: string[] = [];
    for (const { name, status } of reports) {
      const { catchUp } = status;
      const running = this.#catchUps.get(name);
      if (catchUp !== undefined && catchUp.total > 0 && running === undefined) {
        const source = status.members.find(({ id }) => id === catchUp.source)?.name ?? catchUp.source.slice(0, 8);
        this.#catchUps.set(name, { startedAt: nowMs, total: catchUp.total });
        lines.push(`${name} takes ${plural(catchUp.total, 'operation')} from ${source}`);
      }
    }
    for (const [name, state] of said) {
      const before = this.#states.get(name);
      if (before === state) continue;
      this.#states.set(name, state);
      const catchUp = this.#catchUps.get(name);
      if (state === 'active' && catchUp !== undefined) {
        this.#catchUps.delete(name);
        lines.push(
          `${name} resynced: ${plural(catchUp.total, 'operation')} in ${formatElapsed(nowMs - catchUp.startedAt)}`,
        );
      } else if (state === 'active' && before !== 'suspect') {
        lines.push(
          before === undefined || before === 'joining' || before === 'syncing' ? `${name} joined` : `${name} is back`,
        );
      } else if (stateWords[state] !== undefined && state !== 'active' && state !== 'syncing') {
        lines.push(`${name} ${stateWords[state]}`);
      }
    }
    return lines;
  }

  #tellConflicts({ status, operations }: LabReport): readonly string[] {
    return operations
      .filter(
        ({ kind, path, origin }) =>
          kind === 'put' && origin === status.member.origin && isConflictPath(path) && !this.#conflicts.has(path),
      )
      .map(({ path }) => {
        this.#conflicts.add(path);
        return `conflict: two members edited the same file; the other version is ${printable(path)}`;
      });
  }

  #tellChanges({ name, status, operations }: LabReport, nowMs: number): readonly string[] {
    for (const operation of operations) {
      if (operation.origin !== status.member.origin || operation.kind === 'member') continue;
      const burst = this.#bursts.get(name) ?? { startedAt: operation.at, written: 0, removed: 0, renamed: 0, other: 0 };
      this.#bursts.set(name, burst);
      if (operation.from !== undefined) burst.renamed++;
      else if (operation.kind === 'put') burst.written++;
      else if (operation.kind === 'delete') burst.removed++;
      else burst.other++;
    }
    const burst = this.#bursts.get(name);
    const others = status.members.filter(({ self, state }) => !self && (state === 'active' || state === 'syncing'));
    if (burst === undefined || operations.length > 0 || others.some(({ behind }) => behind > 0)) return [];
    this.#bursts.delete(name);
    // Each rename comes with the removal of the old name, which nobody needs to hear of.
    burst.removed = Math.max(0, burst.removed - burst.renamed);
    const away = status.members
      .filter(({ state }) => state === 'down' || state === 'suspect')
      .map((member) => member.name);
    const without = away.length === 0 ? '' : `; ${away.join(', ')} will get it later`;
    const to = others.length === 0 ? 'nobody else is up' : `to ${plural(others.length, 'member')}`;
    return [`${name}: ${describe(burst)} in ${formatElapsed(Math.max(0, nowMs - burst.startedAt))} ${to}${without}`];
  }

  #tellProblems(reports: readonly LabReport[]): readonly string[] {
    const lines: string[] = [];
    const open = new Set<string>();
    for (const { name, status } of reports) {
      for (const { code, path, member, detail } of status.problems) {
        const key = [name, code, path, member].join('\0');
        open.add(key);
        if (!this.#problems.has(key)) lines.push(`${name}: ${printable(detail)}`);
        this.#problems.set(key, `${name}: solved: ${code}${path === undefined ? '' : ` ${printable(path)}`}`);
      }
    }
    const answering = new Set(reports.map(({ name }) => name));
    for (const [key, solved] of this.#problems) {
      if (open.has(key) || !answering.has(key.split('\0', 1)[0] ?? '')) continue;
      this.#problems.delete(key);
      lines.push(solved);
    }
    return lines;
  }
}
