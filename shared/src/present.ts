/** The wording that the command line and the page share. A separate entry point: the agent's threads load the rest. */
export * from './present/causes.ts';
export * from './present/condition.ts';
export * from './present/health-beats.ts';
export * from './present/health-event.ts';
export * from './present/latency-age.ts';
export * from './present/latency-matrix.ts';
export * from './present/member-problems.ts';
export * from './present/notices.ts';
export * from './present/operation-author.ts';
export * from './present/problem-words.ts';
export * from './present/progress.ts';
export * from './present/shown-file.ts';
export * from './present/start-up.ts';
export * from './present/units.ts';
export * from './present/unreadable-file.ts';
export * from './present/verdict.ts';
export * from './present/work.ts';
