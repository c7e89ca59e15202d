import type { ProblemCode } from '@lockstep/shared';
import type { FolderHealth } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import { reportRoom, usableBytes } from '../state/disk-room.ts';

/** Problems of the folder as a whole. */
const folderProblems: readonly ProblemCode[] = ['folder-missing', 'state-unusable'];

/** The state of the folder and the machine, as measured for the last heartbeat. */
export class Health {
  /** Without `room` until it was measured. */
  folder: FolderHealth = { ok: true };
  /** Processors in use. */
  load = 0;
  readonly #context: Context;
  readonly #meter: (() => number) | undefined;

  /** `meter` returns the processors in use since its last call. */
  constructor(context: Context, meter: (() => number) | undefined) {
    this.#context = context;
    this.#meter = meter;
  }

  async measure(): Promise<void> {
    const { folder, problems, facts } = this.#context;
    // A problem that appears while the folder is examined is newer than the result.
    const earlier = folderProblems.filter((code) => problems.has(code));
    this.folder = await folder.health();
    this.#report(earlier);
    const { ok, room } = this.folder;
    if (ok && room !== undefined) {
      reportRoom(problems, room);
      facts.roomMeasured.publish(usableBytes(room));
    }
    this.load = this.#meter?.() ?? 0;
  }

  /** `earlier`: the problems that the result may withdraw. */
  #report(earlier: readonly ProblemCode[]): void {
    const { problems, facts } = this.#context;
    const { ok, detail = 'The folder cannot be used.', state } = this.folder;
    const present = new Map<ProblemCode, string>();
    if (!ok) present.set('folder-missing', detail);
    if (state !== undefined) present.set('state-unusable', state);
    for (const [code, text] of present) problems.set(code, {}, text);
    if (!ok) return;
    const over = earlier.filter((code) => !present.has(code));
    for (const code of over) problems.clear(code);
    if (over.length > 0) facts.revealed.publish();
  }
}
