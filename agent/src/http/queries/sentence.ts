/** `its content is being fetched` → `Its content is being fetched.` */
export function asSentence(reason: string): string {
  const [first = ''] = reason;
  return first.toUpperCase() + reason.slice(first.length) + (/[.!?…]$/.test(reason) ? '' : '.');
}
