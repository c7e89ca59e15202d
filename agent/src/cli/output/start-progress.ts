import type { Terminal } from './terminal.ts';

/** The interval at which a start is asked how far it is. */
const askMs = 200;
/** The shortest time between two lines about the same step where the output is no terminal. */
const sameStepMs = 10_000;

/** Shows how far a start is: a line that is rewritten on a terminal, elsewhere a line for each step and for every ten seconds of it. */
export class StartProgress {
  readonly #terminal: Terminal;
  #text: () => string | undefined;
  #said = '';
  #saidMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(terminal: Terminal, text: string) {
    this.#terminal = terminal;
    this.#text = () => text;
    this.#timer = setInterval(() => this.#show(), askMs);
    this.#show();
  }

  /** From now on `text` says how far the start is; undefined: there is nothing more to say. */
  follow(text: () => string | undefined): void {
    this.#text = text;
    this.#show();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#terminal.progress(undefined);
  }

  #show(): void {
    const text = this.#text();
    if (text === undefined) return;
    if (this.#terminal.isWatched) {
      this.#terminal.progress(text);
      return;
    }
    const nowMs = performance.now();
    const isSameStep = stepOf(text) === stepOf(this.#said);
    if (isSameStep && (text === this.#said || nowMs - this.#saidMs < sameStepMs)) return;
    this.#said = text;
    this.#saidMs = nowMs;
    this.#terminal.print(text);
  }
}

/** The step that a text is about, without how far it is. */
function stepOf(text: string): string {
  return text.replace(/:.*$/, '');
}
