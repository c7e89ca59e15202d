import type { Conflict, TreeEntry } from '@lockstep/shared/api';
import type { ShownContent } from '../http/conflict-facade.ts';
import { shownType } from '../http/shown-type.ts';
import type { Part } from './cast.ts';

const names = ['Budget 2027', 'Letters/to the harbour office', 'Minutes/2026-11-19'];
const endings = ['ods', 'md', 'md'];

const text = (decision: string) => `# Minutes of Thursday

1. The plan for the quay was gone through.
2. ${decision}
3. The survey of the bridge is due on Friday.
`;

/** Three files that two machines changed at the same time. */
export function conflicts(parts: readonly Part[], begunAt: number): Conflict[] {
  return names.flatMap((name, index): Conflict[] => {
    const [winner, loser] = [parts[index + 1], parts[index + 20]];
    if (winner === undefined || loser === undefined) return [];
    const path = `${name}.${endings[index]}`;
    const copy = `${name}.conflict-20261119T101502004Z-${loser.name}.${endings[index]}`;
    const [winnerAt, loserAt] = [begunAt - 1_200_000 - index * 4_000_000, begunAt - 1_320_000 - index * 4_000_000];
    return [
      {
        path,
        copy: entry(copy, loser, loserAt, parts.length, 48_990),
        original: entry(path, winner, winnerAt, parts.length, 51_102),
        loser: loser.name,
        loserAt,
        winner: winner.name,
        winnerAt,
      },
    ];
  });
}

function entry(path: string, { id, name: writerName }: Part, at: number, members: number, size: number): TreeEntry {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const version = { origin: `${id}.abcdefgh`, seq: 1_204, writer: id, writerName, at };
  const state = { holding: members, missing: [], conflict: true, pending: false };
  return { path, name, type: 'file', size, ...version, ...state };
}

/** What stands in a file: a text where its name says so. */
export function contentOf(path: string): ShownContent {
  const decision = path.includes('.conflict-') ? 'It begins in April, after the storms.' : 'It begins in May.';
  const bytes = path.endsWith('.md') ? Buffer.from(text(decision)) : Buffer.from([0, 1, 2, 3]);
  return { bytes, type: shownType(path, bytes) };
}
