import type { Scheduler, Task } from '../base/scheduler.ts';

interface Appointment {
  readonly atMs: number;
  readonly run: () => void;
  readonly task: Task;
}

/** The future actions of a user. Some are run before their virtual time, in the middle of another's action. */
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

  /** Runs the first action that is due within `aheadMs`. False if there is none. */
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
