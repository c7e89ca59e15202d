/** 0 done, 1 not done, 2 wrong use. */
export const exitCode = { done: 0, notDone: 1, wrongUse: 2 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The command cannot be understood: the message says what is allowed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
