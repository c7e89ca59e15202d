/** Counts what this thread has done, for the control thread to see that it moves. Undefined in the control thread. */
let steps: Int32Array | undefined;

/** Counts from now on in `shared`, at index 0. */
export function countProgress(shared: SharedArrayBuffer): void {
  steps = new Int32Array(shared);
}

/** A piece of a job was done that takes a moment at most: a block was read, an entry made durable, a step of apply begun. */
export function progressed(): void {
  if (steps !== undefined) Atomics.add(steps, 0, 1);
}
