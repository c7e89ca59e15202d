/** What command line and page say in the same words. Apart from the rest, which agents load in each of their threads. */
export * from './present/latency-matrix.ts';
export * from './present/problem-words.ts';
export * from './present/troubles.ts';
export * from './present/units.ts';
export * from './present/verdict.ts';
