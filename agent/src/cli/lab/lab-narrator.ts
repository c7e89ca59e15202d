import type { ApiEvent } from '@lockstep/shared/api';
import { formatBytes, formatElapsed, formatItems } from '@lockstep/shared/present';
import { z } from 'zod';
import { printable } from '../output/format.ts';

const count = z.number().default(0);

const deliveredSchema = z.object({
  operations: count,
  files: count,
  deletes: count,
  bytes: count,
  ms: count,
  members: count,
});
const resyncedSchema = z.object({ name: z.string(), operations: count, ms: count });
const aboutSchema = z.object({ name: z.string() });
const conflictSchema = z.object({ path: z.string(), copy: z.string(), name: z.string() });
const powerCutSchema = z.object({ fetched: count, undone: count, copies: count });
const pathSchema = z.object({ path: z.string() });
const lostSchema = z.object({ path: z.string(), name: z.string() });
const problemSchema = z.object({ detail: z.string() });

function delivered(name: string, data: z.infer<typeof deliveredSchema>): string {
  const { operations, files, deletes, bytes, ms, members } = data;
  const others = operations - files - deletes;
  const parts = [
    ...(files > 0 ? [`${formatItems(files, 'file')} (${formatBytes(bytes)})`] : []),
    ...(deletes > 0 ? [formatItems(deletes, 'removal')] : []),
    // Directories and permissions are not mentioned if there are files.
    ...(files === 0 && others > 0 ? [formatItems(others, 'other change')] : []),
  ];
  return `${name}: ${parts.join(', ')} in ${formatElapsed(ms)} to ${formatItems(members, 'member')}`;
}

function resynced(name: string, { name: source, operations, ms }: z.infer<typeof resyncedSchema>): string | undefined {
  if (operations === 0) return undefined;
  return `${name} resynced: ${formatItems(operations, 'operation')} from ${source} in ${formatElapsed(ms)}`;
}

function conflict({ path, copy, name }: z.infer<typeof conflictSchema>): string {
  return `conflict: ${printable(path)} was changed in two places; the version of ${name} is kept as ${printable(copy)}`;
}

function powerCut(name: string, { fetched, undone, copies }: z.infer<typeof powerCutSchema>): string {
  const kept = copies > 0 ? `; ${formatItems(copies, 'conflict copy', 'conflict copies')} kept` : '';
  return `${name} had a power cut that undid ${formatItems(fetched + undone, 'change')}; the others bring them back${kept}`;
}

/** The line for a fork, which each member detects for itself. */
function forked(name: string, { name: origin }: z.infer<typeof aboutSchema>): string {
  const setBack = `${origin} was set back to an earlier state; both versions of each differing file are kept`;
  return origin === name ? setBack : `${name}: ${setBack}`;
}

/** The line that `say` makes of the data, or undefined if this version does not know their form: such events are skipped. */
function read<Data>(
  schema: z.ZodType<Data>,
  data: unknown,
  say: (data: Data) => string | undefined,
): string | undefined {
  const parsed = schema.safeParse(data);
  return parsed.success ? say(parsed.data) : undefined;
}

/** Turns the events of the lab's members into lines for the person who watches. */
export class LabNarrator {
  /** Members already reported as down or gone, so that other observers do not repeat it. */
  readonly #gone = new Map<string, string>();

  /** The line for an event of member `name`, or undefined if it adds nothing new. */
  lineOf(name: string, { kind, data }: ApiEvent): string | undefined {
    switch (kind) {
      case 'active':
        this.#gone.delete(name);
        return `${name} joined`;
      case 'stopped':
        this.#gone.set(name, 'down');
        return `${name} stopped`;
      case 'down':
      case 'left':
        return read(aboutSchema, data, (about) => this.#tellGone(about.name, kind));
      case 'delivered':
        return read(deliveredSchema, data, (burst) => delivered(name, burst));
      case 'resynced':
        return read(resyncedSchema, data, (resync) => resynced(name, resync));
      case 'conflict':
        return read(conflictSchema, data, conflict);
      case 'power-cut':
        return read(powerCutSchema, data, (cut) => powerCut(name, cut));
      case 'forked':
        return read(aboutSchema, data, (about) => forked(name, about));
      case 'repaired':
        return read(
          pathSchema,
          data,
          ({ path }) => `${name} repaired ${printable(path)}, which was damaged on its disk`,
        );
      case 'content-lost':
        return read(
          lostSchema,
          data,
          (lost) => `${printable(lost.path)}: no member has what ${lost.name} wrote any more`,
        );
      case 'problem':
        return read(problemSchema, data, (problem) => `${name}: ${printable(problem.detail)}`);
      default:
        return undefined;
    }
  }

  #tellGone(name: string, kind: 'down' | 'left'): string | undefined {
    if (this.#gone.get(name) === kind) return undefined;
    this.#gone.set(name, kind);
    return kind === 'down' ? `${name} is down` : `${name} left`;
  }
}
