/** The wording that the command line and the page share. A separate entry point: the agent's threads load the rest. */
export * from './present/condition.ts';
export * from './present/latency-age.ts';
export * from './present/latency-matrix.ts';
export * from './present/problem-words.ts';
export * from './present/progress.ts';
export * from './present/troubles.ts';
export * from './present/units.ts';
export * from './present/unreadable-file.ts';
export * from './present/verdict.ts';
