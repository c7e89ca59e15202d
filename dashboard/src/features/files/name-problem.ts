/** Why no entry can have this name, as a sentence; undefined if one may. The agent knows the rest. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'Type a name.';
  if (name.includes('/')) return 'A name has no slash.';
  return name === '.' || name === '..' ? 'This name has another meaning.' : undefined;
}
