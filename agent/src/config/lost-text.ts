/**
 * The fault of a text file that a power cut left without its text, as a sentence without its subject; undefined if it may have its text. A
 * program wrote such a file without a sync, and the file system made only its name and length durable.
 */
export function lostText(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  return text.includes('\0') ? 'contains zeros instead of text' : undefined;
}
