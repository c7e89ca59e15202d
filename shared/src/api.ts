/** The API's schemas. A separate entry point: they need zod, which costs each thread and page that loads it some megabytes. */
export * from './api/commands.ts';
export * from './api/common.ts';
export * from './api/conflicts.ts';
export * from './api/control.ts';
export * from './api/events.ts';
export * from './api/files.ts';
export * from './api/health-history.ts';
export * from './api/journey.ts';
export * from './api/latency.ts';
export * from './api/members.ts';
export * from './api/notices.ts';
export * from './api/operations.ts';
export * from './api/path-report.ts';
export * from './api/status.ts';
export * from './api/transfers.ts';
export * from './api/tree.ts';
export * from './api/versions.ts';
