import type { Scheduler, Task } from '../base/scheduler.ts';

interface Appointment {
  readonly atMs: number;
  readonly run: () => void;
  readonly task: Task;
}

/** What somebody is going to do, of which some may come earlier than virtual time has it: in the middle of what another does. */
export class Agenda {
  readonly #scheduler: Scheduler;
  readonly #appointments = new Set<Appointment>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  after(delayMs: number, run: () => void): void {
    const task = this.#scheduler.after(delayMs, () => this.#keep(appointment));
    const appointment: Appointment = { atMs: this.#scheduler.nowMs + delayMs, run, task };
    this.#appointments.add(appointment);
  }

  /** Does the first thing that is due within `aheadMs`. False when nothing is. */
  doNext(aheadMs: number): boolean {
    const untilMs = this.#scheduler.nowMs + aheadMs;
    let first: Appointment | undefined;
    for (const appointment of this.#appointments) {
      if (appointment.atMs <= untilMs && (first === undefined || appointment.atMs < first.atMs)) first = appointment;
    }
    if (first === undefined) return false;
    first.task.cancel();
    this.#keep(first);
    return true;
  }

  #keep(appointment: Appointment): void {
    this.#appointments.delete(appointment);
    appointment.run();
  }
}
