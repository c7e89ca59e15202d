/** The exit codes: 0 done, 1 not done, 2 wrong use. */
export const exitCode = { done: 0, notDone: 1, wrongUse: 2 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The command line is wrong: the message says what is allowed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
