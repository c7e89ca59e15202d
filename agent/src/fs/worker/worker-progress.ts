/** Counts the progress of this thread, for the control thread. Undefined in the control thread. */
let steps: Int32Array | undefined;

/** Starts to count in `shared`, at index 0. */
export function countProgress(shared: SharedArrayBuffer): void {
  steps = new Int32Array(shared);
}

/** Records that a short piece of a job is done: a block was read, an entry made durable, a step of apply begun. */
export function progressed(): void {
  if (steps !== undefined) Atomics.add(steps, 0, 1);
}
