import type { FolderHealth } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import { reportRoom } from '../state/disk-room.ts';

/** The state of the folder and the machine, as measured for the last heartbeat. */
export class Health {
  folder: FolderHealth = { ok: true, freeBytes: 0 };
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
    this.folder = await this.#context.folder.health();
    if (this.folder.ok) reportRoom(this.#context.problems, this.folder.freeBytes);
    this.load = this.#meter?.() ?? 0;
  }
}
