import type { NoticeKind } from '@lockstep/shared/present';

/** The message to a webhook and to a command: all notices of one moment. */
export interface Delivery {
  /** One text for a person. Several chat services read this field. */
  readonly text: string;
  readonly state: 'begun' | 'over' | 'test';
  /** The sentence on the whole cluster. */
  readonly sentence: string;
  /** The member that tells. */
  readonly member: { readonly id: string; readonly name: string };
  readonly dashboard: string;
  readonly at: string;
  readonly notices: readonly {
    /** The same on every member, and for the begin and the end of a cause. */
    readonly key: string;
    readonly kind: NoticeKind | 'test';
    readonly text: string;
    readonly since: string;
  }[];
}

/** Something that takes deliveries. */
export interface Target {
  readonly name: 'webhook' | 'command';
  /** Its name for a person, without secrets: `hooks.example.net`, `page-me`. */
  readonly what: string;
  /** Resolves with a sentence on what happened; rejects with an error whose message is one. */
  deliver(delivery: Delivery, stopping: AbortSignal): Promise<string>;
}
