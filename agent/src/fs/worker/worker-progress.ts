/** The index of the counter, and that of a number that is not 0 once the folder is being closed. */
export const [progressIndex, closingIndex] = [0, 1];
/** The size of the memory that a thread shares with the control thread. */
export const progressBytes = 2 * Int32Array.BYTES_PER_ELEMENT;

/** The memory that this thread shares with the control thread. Undefined in the control thread. */
let shared: Int32Array | undefined;

/** Starts to count in this memory, of `progressBytes`. */
export function countProgress(memory: SharedArrayBuffer): void {
  shared = new Int32Array(memory);
}

/** Records that a short piece of a job is done: a block was read, an entry made durable, a step of apply begun. */
export function progressed(): void {
  if (shared !== undefined) Atomics.add(shared, progressIndex, 1);
}

/** True once the folder is being closed: no one waits for the result of a long read any more. */
export function isClosing(): boolean {
  return shared !== undefined && Atomics.load(shared, closingIndex) !== 0;
}
