import type { CopiesReport } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** The files that are named of those that this member lacks. */
const pathsMax = 10;

/** On at least how many members the contents of files are kept, and which members lack copies. */
export function readCopies({ context: { journal, self }, peers, copies }: Engine): CopiesReport {
  const { placement } = copies;
  const members = journal.members.all().filter(({ membership }) => membership === 'joined');
  return {
    rules: placement.rules.active.map((rule) => ({ ...rule })),
    members: members.map(({ id, onDemand, room }) => ({
      id,
      name: peers.nameOf(id),
      onDemand: onDemand === true,
      counts: placement.counts(id),
      roomBytes: room,
      ...(id === self.id
        ? { lacking: copies.lacking(), paths: copies.keeper.lackingPaths(pathsMax) }
        : { lacking: peers.get(id)?.said?.lackingCopies }),
    })),
  };
}
