import { type HelloMessage, type MemberState, SOFTWARE_VERSION } from '@lockstep/shared';
import type { Arrivals } from '../measurements/arrivals.ts';
import type { Context } from '../state/context.ts';
import type { CatchUp } from './catch-up.ts';
import type { Health } from './health.ts';
import type { Vitals } from './heartbeat.ts';

/** The parts of a member that its hello and its heartbeats describe. */
export interface Describable {
  readonly context: Context;
  readonly lifecycle: { readonly state: MemberState; readonly enabledAt: number | undefined };
  readonly health: Health;
  readonly catchUp: CatchUp;
  readonly arrivals: Arrivals;
  readonly copies: { lacking(): Vitals['lackingCopies'] };
}

/** The hello of this member for a new session. */
export function helloMessage({ context, lifecycle: { state, enabledAt } }: Describable): HelloMessage {
  const { journal, self } = context;
  return {
    type: 'hello',
    name: self.name,
    addresses: self.addresses,
    origin: journal.origin,
    known: journal.log.known(),
    marks: journal.log.marks(),
    applied: journal.applied(),
    sealed: journal.seals.all(),
    state,
    enabledAt,
    software: SOFTWARE_VERSION,
    ...(self.onDemand && { onDemand: true as const }),
  };
}

/** Measures the state of this member for a heartbeat. */
export async function measureVitals(member: Describable): Promise<Vitals> {
  const { health, catchUp, lifecycle, arrivals, copies } = member;
  await health.measure();
  return {
    state: lifecycle.state,
    enabledAt: lifecycle.enabledAt,
    load: health.load,
    freeBytes: health.folder.room?.freeBytes,
    progress: catchUp.progress(),
    lackingCopies: copies.lacking(),
    ...arrivals.report(),
  };
}
