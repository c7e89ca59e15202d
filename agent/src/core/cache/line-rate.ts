/** The last fetches that count: the line may become slower or faster. */
const fetchesMax = 16;
/** A shorter fetch is measured as that long: it came with the clock's precision. */
const msMin = 1;
/** From this size on, the time of a fetch is that of its bytes, and not of the question and the disk. */
const tellingBytesMin = 65_536;
/** While only smaller files were measured, the line is taken to be so many times as fast as it could be shown to be. */
const unknownFactor = 4;

/** How much the line to other members brings, as the last fetches show. */
export class LineRate {
  #fetches: readonly { readonly bytes: number; readonly bytesPerMs: number }[] = [];

  /** A file of `bytes` was fetched in `ms`. */
  fetched(bytes: number, ms: number): void {
    this.#fetches = [...this.#fetches, { bytes, bytesPerMs: bytes / Math.max(msMin, ms) }].slice(-fetchesMax);
  }

  /**
   * Bytes that come within `ms`. The fastest fetch decides, since the others may have shared the line, or waited for the disk. Undefined as long
   * as nothing was fetched.
   */
  bytesWithin(ms: number): number | undefined {
    if (this.#fetches.length === 0) return undefined;
    const factor = this.#fetches.some(({ bytes }) => bytes >= tellingBytesMin) ? 1 : unknownFactor;
    return Math.max(...this.#fetches.map(({ bytesPerMs }) => bytesPerMs)) * ms * factor;
  }
}
