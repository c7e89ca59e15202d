export * from './error-code.ts';
export * from './ids.ts';
export * from './limits.ts';
export * from './operation.ts';
export * from './path.ts';
export * from './protocol/lane.ts';
export * from './protocol/message.ts';
export * from './version.ts';
