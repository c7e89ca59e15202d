/**
 * The SVG path of a small line chart, `width` × `height`, from zero at the bottom to the largest sample at the top. A null is a gap in the
 * line. Undefined if there is nothing to draw.
 */
export function sparklinePath(samples: readonly (number | null)[], width: number, height: number): string | undefined {
  const largest = Math.max(0, ...samples.filter((sample) => sample !== null));
  const step = samples.length > 1 ? width / (samples.length - 1) : 0;
  let path = '';
  let isDrawing = false;
  for (const [index, sample] of samples.entries()) {
    if (sample === null) {
      isDrawing = false;
      continue;
    }
    const x = round(index * step);
    const y = round(largest === 0 ? height : height - (sample / largest) * height);
    // A line from the point to itself shows a sample between two gaps as a dot.
    path += isDrawing ? `L${x} ${y}` : `M${x} ${y}L${x} ${y}`;
    isDrawing = true;
  }
  return path === '' ? undefined : path;
}

/** Rounds to tenths of a pixel, which are precise enough and keep the page small. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
