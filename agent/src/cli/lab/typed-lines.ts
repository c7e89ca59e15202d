import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Calls `typed` with each line of the standard input. Returns a function that ends it. */
export function onTypedLine(typed: (line: string) => void): () => void {
  const { stdin } = process;
  // The kernel stops a job in the background that reads from its terminal.
  if (stdin.isTTY === true && isInBackground()) return () => undefined;
  // Without an editor: it would take Ctrl-C away from the program.
  const lines = createInterface({ input: stdin, terminal: false }).on('line', (line) => typed(line.trim()));
  return () => {
    lines.close();
    stdin.destroy();
  };
}

/** True if another group of processes has the terminal; false where the kernel does not say. */
function isInBackground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return foreground !== group;
  } catch {
    return false;
  }
}
