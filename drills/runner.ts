import type { Lab, Place } from '../testkit/labs/lab.ts';
import type { Scene, Stage } from '../testkit/scenes/stage.ts';

export interface Result {
  readonly drill: string;
  readonly verdict: 'survived' | 'failed' | 'left out';
}

type Settings = Pick<Stage, 'short' | 'random' | 'churnMs'>;

/** The number of lines of each log that are shown after a failed drill. */
const logLinesShown = 40;

/** Runs drills, each on labs of its own, and reports on standard output. */
export class Runner {
  readonly #place: Place;
  readonly #settings: Settings;
  /** The labs, from the moment they are being opened: an interrupt during that must remove them too. */
  readonly #labs: Promise<Lab>[] = [];
  readonly #stops: (() => Promise<unknown>)[] = [];
  #interrupted = false;

  constructor(place: Place, settings: Settings) {
    this.#place = place;
    this.#settings = settings;
  }

  async run(scene: Scene): Promise<Result> {
    const beganMs = performance.now();
    const seconds = (): string => ((performance.now() - beganMs) / 1_000).toFixed(1);
    const report = (kind: string, what: string): void => {
      if (this.#interrupted) return;
      process.stdout.write(`${seconds().padStart(7)} s  ${kind.padEnd(7)}  ${what}\n`);
    };
    process.stdout.write(`\n── ${scene.name}: ${scene.title}\n`);
    const lacking = scene.needs && this.#place.lacks(scene.needs);
    if (lacking !== undefined) {
      report('verdict', `LEFT OUT: ${lacking}`);
      return { drill: scene.name, verdict: 'left out' };
    }
    try {
      await scene.run({
        ...this.#settings,
        open: (names) => {
          const lab = this.#place.open(names);
          this.#labs.push(lab);
          return lab;
        },
        whenInterrupted: (stop) => this.#stops.push(stop),
        did: (what) => report('did', what),
        saw: (what) => report('saw', what),
      });
      report('verdict', 'SURVIVED');
      return { drill: scene.name, verdict: 'survived' };
    } catch (error) {
      report('verdict', `FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      if (!this.#interrupted) {
        // Background work must end before the files that it uses are removed.
        await Promise.allSettled(this.#stops.map((stop) => stop()));
        await this.#showLogs();
      }
      return { drill: scene.name, verdict: 'failed' };
    } finally {
      this.#stops.length = 0;
      await this.close();
    }
  }

  /** Whether the user has interrupted the run: the running drill gets no verdict, and no other may begin. */
  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Ends the running drill and everything that it has started. */
  async interrupt(): Promise<void> {
    this.#interrupted = true;
    process.stdout.write('\nInterrupted: removing what the drill has made.\n');
    // Each stops after its current action, which may fail: the terminal has interrupted that too.
    for (const stop of this.#stops) void stop().catch(() => undefined);
    await this.close();
  }

  /** Ends everything that the running drill has started. */
  async close(): Promise<void> {
    for (const opening of this.#labs.splice(0)) {
      // A lab that could not be opened has removed itself.
      const lab = await opening.catch(() => undefined);
      await lab?.close();
    }
  }

  async #showLogs(): Promise<void> {
    for (const opening of this.#labs) {
      const lab = await opening.catch(() => undefined);
      if (lab === undefined) continue;
      for (const member of lab.members) {
        const lines = (await lab.log(member)).slice(-logLinesShown);
        process.stdout.write(`\n=== log of ${member.name}\n${lines.join('\n')}\n`);
      }
    }
  }
}
