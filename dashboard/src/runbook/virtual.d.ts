/** The entries of docs/OPERATIONS.md, made when the page is built. */
declare module 'virtual:runbook' {
  const runbook: import('./runbook.ts').Runbook;
  export type Span = import('./runbook.ts').Span;
  export default runbook;
}
