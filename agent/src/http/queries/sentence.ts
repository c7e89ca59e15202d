/** `its content is being fetched` → `Its content is being fetched.` A `name` at its beginning, of a member or a path, stays as it is. */
export function asSentence(reason: string, name?: string): string {
  const [first = ''] = name !== undefined && reason.startsWith(`${name} `) ? '' : reason;
  return first.toUpperCase() + reason.slice(first.length) + (/[.!?…]$/.test(reason) ? '' : '.');
}
