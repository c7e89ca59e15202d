import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** True if no program that can map a file is installed: Node has no mmap(2). */
export const mappingLacks = spawnSync('python3', ['-c', 'import mmap'], { stdio: 'ignore' }).status !== 0;

/** A program that executes each line of its input, and answers with the file's times in nanoseconds. */
const script = `
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(file, 0)
def store(text):
    memory[0:len(text)] = text
for line in sys.stdin:
    what, text = line.split()
    stats = os.fstat(file)
    before = (stats.st_mtime_ns, stats.st_ctime_ns)
    if what == 'write':
        # A file that keeps changing is read once it has been still for longer than its times are coarse.
        for n in range(6):
            os.pwrite(file, b'%d' % n, 0)
            time.sleep(0.02)
        os.pwrite(file, text.encode(), 0)
    else:
        store(text.encode())
    stats = os.fstat(file)
    print('moved' if before != (stats.st_mtime_ns, stats.st_ctime_ns) else 'unmoved', flush=True)
`;

/** A file that another program has mapped shared, so that its stores go to the file. */
export class MappedFile {
  readonly #program: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;

  private constructor(path: string) {
    this.#program = spawn('python3', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#program.stdout });
    onTestFinished(() => this.close());
  }

  /** Maps an existing file that is not empty. It is unmapped when the test ends. */
  static open(path: string): MappedFile {
    return new MappedFile(path);
  }

  /** Stores a text, without blanks, into the first page. Returns true if the times of the file stay: the page was dirty. */
  async store(text: string): Promise<boolean> {
    return (await this.#send(`store ${text}`)) === 'unmoved';
  }

  /** Writes some texts with write(2), which causes events and changes the times. The last one is `text`. */
  async write(text: string): Promise<void> {
    await this.#send(`write ${text}`);
  }

  async close(): Promise<void> {
    if (this.#program.exitCode !== null) return;
    this.#program.stdin.end();
    await once(this.#program, 'exit');
  }

  async #send(line: string): Promise<string> {
    const answer = once(this.#lines, 'line') as Promise<[string]>;
    this.#program.stdin.write(`${line}\n`);
    return (await answer)[0];
  }
}
