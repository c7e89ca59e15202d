/** `text` as one word of a command that a person copies into a shell: unchanged if the shell would leave it so, otherwise quoted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
