import { createHash, randomFillSync } from 'node:crypto';
import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** Changes elsewhere share the counter of a directory with a probability of one in 1,024. The file has 8 KiB. */
const slots = 1_024;
const slotBytes = 8;
/** The bytes of a slot that count: a number in JSON is exact up to 53 bits. */
const valueBytes = 6;
const valuesMax = 2 ** (8 * valueBytes);

/** A counter of the file, and a value that it had. */
export interface CounterValue {
  readonly slot: number;
  readonly value: number;
}

/**
 * Counters in a file, which other processes read without a question. A key has one of them. They begin at random values, so that no value of
 * an earlier run comes back. The file is written in place: a reader has it open.
 */
export class CounterFile {
  readonly #fd: number;
  readonly #bytes = randomFillSync(Buffer.alloc(slots * slotBytes));

  /** Opens the file at `path`, or makes it. */
  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      ftruncateSync(this.#fd, 0);
      this.#write(this.#bytes, 0);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Raises the counter of `key`. When it returns, all readers see that. Throws if the file cannot be written. */
  raise(key: string): void {
    const { slot, value } = this.of(key);
    const offset = slot * slotBytes;
    this.#bytes.writeUIntLE((value + 1) % valuesMax, offset, valueBytes);
    this.#write(this.#bytes.subarray(offset, offset + slotBytes), offset);
  }

  /** The counter of `key`. */
  of(key: string): CounterValue {
    const slot = slotOf(key);
    return { slot, value: this.#bytes.readUIntLE(slot * slotBytes, valueBytes) };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(bytes: Uint8Array, offset: number): void {
    const written = writeSync(this.#fd, bytes, 0, bytes.length, offset);
    if (written !== bytes.length) throw new Error('A counter was not written as a whole.');
  }
}

/** Reads the counters of another process. */
export class CounterReader {
  readonly #path: string;
  readonly #bytes = Buffer.alloc(slotBytes);
  #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** True if the counter stands at this value now. False if it does not, and if the file is missing or too short. */
  isAt({ slot, value }: CounterValue): boolean {
    try {
      this.#fd ??= openSync(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const read = readSync(this.#fd, this.#bytes, 0, slotBytes, slot * slotBytes);
      return read === slotBytes && this.#bytes.readUIntLE(0, valueBytes) === value;
    } catch {
      return false;
    }
  }

  /** Closes the file. It is opened again at the next question. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function slotOf(key: string): number {
  return createHash('sha1').update(key).digest().readUInt32LE() % slots;
}
