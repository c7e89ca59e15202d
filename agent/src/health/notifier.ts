import type { Status } from '@lockstep/shared/api';
import {
  afterTelling,
  type Cause,
  causesOf,
  clusterVerdict,
  decideNotices,
  isHidden,
  type NoticeKind,
  noticeText,
  type Remembered,
} from '@lockstep/shared/present';
import { backoffMs } from '../core/backoff.ts';
import type { Clock } from '../sync/ports/clock.ts';
import type { Log } from '../sync/ports/log.ts';
import type { Delivery, Target } from './delivery.ts';
import type { RememberedStore } from './remembered-store.ts';

/** The waits between attempts to deliver. */
const retryMs = { minMs: 2_000, maxMs: 600_000 };

/** The problems that this member shows. */
interface ShownProblems {
  set(code: 'notify-failing', subject: object, detail: string): void;
  clear(code: 'notify-failing'): void;
}

/** The settings that select the notices to send. */
interface NoticeRules {
  readonly about: readonly NoticeKind[];
  /** The time for which a member must have been down. */
  readonly afterMs: number;
  readonly freeBytesMin: number;
}

export interface NotifierOptions {
  readonly targets: readonly Target[];
  /** The rules by the settings in force. */
  readonly rules: () => NoticeRules;
  readonly store: RememberedStore;
  readonly problems: ShownProblems;
  readonly clock: Clock;
  readonly log: Log;
  /** False for a cause that another member posts to the same webhook. */
  readonly speaks: (status: Status, cause: Pick<Cause, 'key'>) => boolean;
}

/** The state of one target. */
interface Line {
  readonly target: Target;
  remembered: readonly Remembered[];
  isBusy: boolean;
  failures: number;
  /** On the monotonic clock. */
  notBeforeMs: number;
  failure: string | undefined;
  last: LastDelivery | undefined;
}

interface LastDelivery {
  readonly at: number;
  readonly ok: boolean;
  readonly text: string;
}

/** The result of one attempt. */
export interface Attempt extends LastDelivery {
  readonly target: Target['name'];
  readonly what: string;
}

/**
 * Sends notices to the targets of the settings. It always sends the difference between the present causes and the notices that are stored
 * as sent. So a delivery that fails, or an agent that ends before it, loses nothing.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #lines: readonly Line[];
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#lines = options.targets.map((target) => ({
      target,
      remembered: options.store.load(target.name),
      isBusy: false,
      failures: 0,
      notBeforeMs: 0,
      failure: undefined,
      last: undefined,
    }));
  }

  /** Each target, with its last delivery since the start. */
  get targets(): readonly {
    readonly target: Target['name'];
    readonly what: string;
    readonly last: LastDelivery | undefined;
  }[] {
    return this.#lines.map(({ target: { name, what }, last }) => ({ target: name, what, last }));
  }

  /** Tells what is to be told now. Must be called every few seconds. */
  check(status: Status): void {
    for (const line of this.#lines) {
      if (line.isBusy || this.#options.clock.monotonicMs() < line.notBeforeMs) continue;
      const telling = this.#tell(line, status).finally(() => this.#underWay.delete(telling));
      this.#underWay.add(telling);
    }
  }

  /** Sends a test to every target at once. */
  test(status: Status): Promise<readonly Attempt[]> {
    const delivery = this.#delivery(status, 'test', 'This is a test: notices of Lockstep arrive here.', [
      { key: 'test', kind: 'test', text: 'This is a test', since: new Date(status.now).toISOString() },
    ]);
    return Promise.all(
      this.#lines.map(async (line) => {
        const attempt = await this.#attempt(line, delivery);
        return { target: line.target.name, what: line.target.what, ...attempt };
      }),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the agent ends'));
    await Promise.all(this.#underWay);
  }

  async #tell(line: Line, status: Status): Promise<void> {
    const { store } = this.#options;
    const { about, afterMs, freeBytesMin } = this.#options.rules();
    const causes = causesOf(status, freeBytesMin);
    // A command is this member's own: it is not told by another one.
    const speaks = (cause: Pick<Cause, 'key'>): boolean =>
      line.target.name === 'command' || this.#options.speaks(status, cause);
    const rules = { about, afterMs, speaks };
    const notices = decideNotices(line.remembered, causes, (each) => isHidden(status, each), status.now, rules);
    line.remembered = notices.remembered;
    const rounds = [
      ['begun', notices.begun],
      ['over', notices.over],
    ] as const;
    line.isBusy = true;
    try {
      for (const [state, those] of rounds) {
        if (those.length === 0) continue;
        const text = noticeText(those, state === 'over');
        const described = those.map(({ key, kind, text, since }) => ({
          ...{ key, kind, text },
          since: new Date(since).toISOString(),
        }));
        const { ok } = await this.#attempt(line, this.#delivery(status, state, text, described));
        if (!ok) continue;
        const told = { begun: [], over: [], [state]: those, remembered: line.remembered };
        line.remembered = afterTelling(told, causes, status.now);
      }
      this.#keep(() => store.save(line.target.name, line.remembered));
    } finally {
      line.isBusy = false;
    }
  }

  #delivery(status: Status, state: Delivery['state'], text: string, notices: Delivery['notices']): Delivery {
    const { id, name, dashboard } = status.member;
    const at = new Date(status.now).toISOString();
    return {
      text: `Lockstep: ${text}`,
      ...{ state, sentence: clusterVerdict(status).text, member: { id, name }, dashboard, at, notices },
    };
  }

  async #attempt(line: Line, delivery: Delivery): Promise<LastDelivery> {
    const { clock, log } = this.#options;
    const { target } = line;
    let last: LastDelivery;
    try {
      last = { at: clock.wallMs(), ok: true, text: await target.deliver(delivery, this.#stopping.signal) };
      line.failures = 0;
      line.notBeforeMs = 0;
      line.failure = undefined;
    } catch (error) {
      last = { at: clock.wallMs(), ok: false, text: (error as Error).message };
      if (!this.#stopping.signal.aborted) {
        line.notBeforeMs = clock.monotonicMs() + backoffMs(line.failures++, retryMs, clock.random());
        line.failure = last.text;
        log.warn({ target: target.name, error: last.text }, 'a notice could not be sent');
      }
    }
    line.last = last;
    this.#report();
    return last;
  }

  #report(): void {
    const { problems } = this.#options;
    const failures = this.#lines.flatMap(({ target, failure }) =>
      failure === undefined ? [] : [`${target.name}: ${failure}`],
    );
    if (failures.length === 0) problems.clear('notify-failing');
    else problems.set('notify-failing', {}, `A notice could not be sent by the ${failures.join(' By the ')}`);
  }

  /** A disk without room must not end the agent: after a restart a cause may then be told again. */
  #keep(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, 'what people were told could not be stored');
    }
  }
}
