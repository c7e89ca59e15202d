/** `text` as one word of a command that a person copies into a shell: as it is where the shell would leave it so, else quoted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
