import type { MemberId } from '@lockstep/shared';
import type {
  Beats,
  BeatsQuery,
  HealthEvents,
  HealthEventsQuery,
  LatencySpan,
  LatencySpanQuery,
  Notices,
  NoticeTest,
  Status,
} from '@lockstep/shared/api';
import { type NoticeKind, tellsOf } from '@lockstep/shared/present';
import type { Clock, Timer } from '../sync/ports/clock.ts';
import type { Log } from '../sync/ports/log.ts';
import { commandTarget } from './command.ts';
import { openHealthDatabase } from './health-database.ts';
import { Notifier, type NotifierOptions } from './notifier.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { RememberedStore } from './remembered-store.ts';
import { webhookTarget } from './webhook.ts';

/** The interval at which the health of the cluster is examined. */
const examineMs = 5_000;

/** The settings of the notices. */
export interface NoticeSettings {
  readonly notifyWebhook: string;
  readonly notifyCommand: readonly string[];
  readonly notifyAbout: readonly NoticeKind[];
  readonly notifyAfterMs: number;
  readonly notifyFreeBytesMin: number;
}

export interface HealthOptions {
  /** The path of `health.db`. */
  readonly path: string;
  readonly settings: NoticeSettings;
  readonly problems: NotifierOptions['problems'];
  readonly clock: Clock;
  readonly log: Log;
  readonly readStatus: () => Status;
  /** The ids of the other members that are heard and post to the same webhook. */
  readonly sameWebhook: () => readonly MemberId[];
  readonly takeLatencies: RecorderOptions['takeLatencies'];
}

/** Follows the health of the cluster: tells people, and keeps a history. */
export class HealthWatch {
  readonly #notifier: Notifier;
  readonly #options: HealthOptions;
  readonly #recorder: Recorder;
  readonly #closeDatabase: () => void;
  #settings: NoticeSettings;
  #isStopped = false;
  #timer: Timer;

  constructor(options: HealthOptions) {
    const { path, settings, problems, clock, log, sameWebhook, takeLatencies } = options;
    this.#options = options;
    this.#settings = settings;
    const database = openHealthDatabase(path, log);
    this.#closeDatabase = () => database.close();
    this.#notifier = new Notifier({
      targets: [
        ...(settings.notifyWebhook === '' ? [] : [webhookTarget(settings.notifyWebhook)]),
        ...(settings.notifyCommand.length === 0 ? [] : [commandTarget(settings.notifyCommand)]),
      ],
      rules: () => ({
        about: this.#settings.notifyAbout,
        afterMs: this.#settings.notifyAfterMs,
        freeBytesMin: this.#settings.notifyFreeBytesMin,
      }),
      store: new RememberedStore(database),
      ...{ problems, clock, log },
      speaks: ({ member }, cause) => tellsOf(member.id, sameWebhook(), cause),
    });
    this.#recorder = new Recorder({ database, log, takeLatencies });
    this.#timer = clock.after(examineMs, () => this.#examine());
  }

  /** Puts other settings in force, except for the targets. */
  change(settings: NoticeSettings): void {
    this.#settings = settings;
  }

  notices(): Notices {
    const { notifyAbout, notifyAfterMs, notifyFreeBytesMin } = this.#settings;
    return {
      targets: this.#notifier.targets,
      about: notifyAbout,
      afterMs: notifyAfterMs,
      freeBytesMin: notifyFreeBytesMin,
    };
  }

  testNotices(): Promise<NoticeTest['attempts']> {
    return this.#notifier.test(this.#options.readStatus());
  }

  beats({ span }: BeatsQuery): Beats {
    const { now, members } = this.#options.readStatus();
    const ids = members.filter(({ condition }) => condition !== 'left').map(({ id }) => id);
    return this.#recorder.spans.beats(now, span, ids);
  }

  latency({ from, to, span }: LatencySpanQuery): LatencySpan {
    return this.#recorder.latency.read(this.#options.clock.wallMs(), from, to, span);
  }

  events(query: HealthEventsQuery): HealthEvents {
    return this.#recorder.events.read(query);
  }

  /** Must be called before the engine stops, which ends the sessions. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#timer.cancel();
    this.#recorder.stop(this.#options.clock.wallMs());
    await this.#notifier.stop();
    this.#closeDatabase();
  }

  #examine(): void {
    const { clock, readStatus } = this.#options;
    const status = readStatus();
    this.#recorder.note(status);
    this.#notifier.check(status);
    this.#timer = clock.after(examineMs, () => this.#examine());
  }
}
