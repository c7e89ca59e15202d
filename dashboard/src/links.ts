/** Where each thing is shown: every address can be sent to a colleague. */

export function memberLink(id: string): string {
  return `/?member=${encodeURIComponent(id)}`;
}
