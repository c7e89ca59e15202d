/** The links of the page: every address can be sent to a colleague. */

/** An opened member, or without an `id` all members closed. `among`: the current parameters, of which the others are kept. */
export function memberLink(id: string | undefined, among?: URLSearchParams): string {
  const parameters = new URLSearchParams(among);
  if (id === undefined) parameters.delete('member');
  else parameters.set('member', id);
  const text = parameters.toString();
  return text === '' ? '/' : `/?${text}`;
}

const filesPlace = '/files';

/** A file or directory; the empty path is the folder itself. With `search`, next to the results of that search. */
export function pathLink(path: string, search = ''): string {
  const place = path === '' ? filesPlace : `${filesPlace}/${encodePath(path)}`;
  return search === '' ? place : `${place}?q=${encodeURIComponent(search)}`;
}

/** The part of the API that controls another member. */
export function memberControlPath(id: string): string {
  return `/members/${encodeURIComponent(id)}/control`;
}

/** The settings of another member, as far as it lets this one change them. */
export function memberSettingsLink(id: string): string {
  return `/settings?${new URLSearchParams({ member: id })}`;
}

/** The rules of what is not replicated, with one more line that is not saved yet. */
export function ignoreRuleLink(rule: string): string {
  return `/settings/ignore-rules?${new URLSearchParams({ add: rule })}`;
}

/** The path in an address made by `pathLink`; undefined if the address is damaged. */
export function pathOfLink(pathname: string): string | undefined {
  const names = pathname
    .slice(filesPlace.length)
    .split('/')
    .filter((name) => name !== '');
  try {
    const plain = names.map(decodeURIComponent);
    // No file has such a name, and in the address of a request to the agent it would lead to another one.
    return plain.some((name) => name === '.' || name === '..' || name.includes('/')) ? undefined : plain.join('/');
  } catch {
    return undefined;
  }
}

/** The path with each name percent-encoded: a name may contain any character except a slash. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The opened conflict of `path`, which is a conflict copy or its original. */
export function conflictLink(path: string): string {
  return `/conflicts?copy=${encodeURIComponent(path)}`;
}

/** The round trips from one member to another: live, or over a longer `span`. */
export function pairLink(from: string, to: string, span?: string): string {
  return `/latency?${new URLSearchParams({ from, to, ...(span !== undefined && { span }) })}`;
}

/** The fields that tell a problem from the others. */
type ProblemName = Readonly<Partial<Record<'code' | 'path' | 'member', string | undefined>>>;

/** The opened entry of the runbook about a problem; without a code all are closed. */
export function problemLink(problem: ProblemName): string {
  const parameters = new URLSearchParams();
  for (const key of ['code', 'path', 'member'] as const) {
    const value = problem[key];
    if (value !== undefined) parameters.set(key, value);
  }
  const text = parameters.toString();
  return text === '' ? '/problems' : `/problems?${text}`;
}
