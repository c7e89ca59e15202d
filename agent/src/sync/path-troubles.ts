import { dotKey, isLive, type Operation, type ProblemCode } from '@lockstep/shared';
import type { Context } from './context.ts';

/** Problems that stand in the way of bringing paths to their heads: each is over once its operation is no longer to be shown. */
export class PathTroubles {
  readonly #context: Context;
  /** Which operation the problem of a path is about. */
  readonly #reported = new Map<string, { readonly head: string; readonly code: ProblemCode }>();

  constructor(context: Context) {
    this.#context = context;
  }

  report(path: string, head: Operation, code: ProblemCode, detail: string): void {
    const { problems } = this.#context;
    if (code === 'folder-missing') {
      // The folder as a whole is one problem, not one for each path.
      problems.set(code, {}, detail);
      return;
    }
    const before = this.#reported.get(path);
    if (before !== undefined && before.code !== code) problems.clear(before.code, { path });
    problems.set(code, { path }, detail);
    if (problems.has(code, { path })) this.#reported.set(path, { head: dotKey(head), code });
  }

  /** The path was brought to its head. */
  over(path: string): void {
    this.#reported.delete(path);
    this.#context.problems.clearPath(path);
  }

  /** Withdraws what was said of operations that nobody wants to show here any more: others replaced or deleted them, or a user did. */
  withdraw(): void {
    const { problems } = this.#context;
    for (const [path, { head, code }] of this.#reported) {
      if (this.#isPending(path, head)) continue;
      this.#reported.delete(path);
      problems.clear(code, { path });
    }
    for (const { code, path, member } of problems.list()) {
      // A source is named for any operation of the path: the visible one, or one that loses and must be kept.
      if (code === 'content-corrupt' && path !== undefined && !this.#isOpen(path))
        problems.clear(code, { path, member });
    }
  }

  #isPending(path: string, wanted?: string): boolean {
    const { journal } = this.#context;
    const [head] = journal.heads(path);
    if (head === undefined || (wanted !== undefined && dotKey(head) !== wanted)) return false;
    const row = journal.disk(path);
    if (row !== undefined && dotKey(row.dot) === dotKey(head)) return false;
    return isLive(head) || row?.fingerprint !== undefined;
  }

  #isOpen(path: string): boolean {
    return this.#isPending(path) || this.#context.journal.heads(path).length > 1;
  }
}
