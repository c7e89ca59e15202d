/** The reason with which a member refuses a removed one. It fits into the reason of a close frame unless both names are long. */
export function removalReason(remover: string, removed: string): string {
  return `removed from the cluster by ${remover}; to take it back, run there: lockstep remove --undo ${removed}`;
}

/** The sentence for a removed member that `name` refuses. */
export function refusedByText(name: string, reason: string): string {
  return `${name} refuses this member: ${reason}.`;
}

/** The name of the member that removed the one that was refused with `reason`, or of which a sentence with it says so; undefined if that is another reason. */
export function removerIn(reason: string | undefined): string | undefined {
  return /(?:^|: )removed from the cluster by (.+?)(; to take it back|\.?$)/i.exec(reason ?? '')?.[1];
}
