import type { ContentId } from '@lockstep/shared';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

const rowsAtOnce = 10_000;
/** A filter of so few files answers hardly ever wrong. */
const falseAnswersMax = 3;

/** Told, after convergence and a pause: what a member on demand told the others of its contents is what is on its disk. */
export function checkTold({ remaining }: World): string | undefined {
  for (const machine of remaining) {
    if (!machine.isOnDemand) continue;
    const held = contentsOn(machine);
    const others = [...headContents(machine)].filter((content) => !held.has(content));
    for (const { name, engine } of remaining) {
      const peer = engine?.peers.get(machine.id);
      if (peer === undefined) continue;
      const { holdings } = peer;
      if (holdings === undefined) return `${name} has not been told what ${machine.name} holds`;
      const hidden = [...held].find((content) => !holdings.mayHave(content));
      if (hidden !== undefined) return `${name} has been told that ${machine.name} lacks ${hidden}`;
      const wrong = others.filter((content) => holdings.mayHave(content));
      if (wrong.length > falseAnswersMax)
        return `${name} has been told that ${machine.name} holds ${wrong.length} contents of ${others.length} that it lacks`;
    }
  }
  return undefined;
}

function contentsOn({ journal }: Machine): ReadonlySet<ContentId> {
  const rows = journal.disk.below('', undefined, rowsAtOnce);
  return new Set(rows.flatMap(({ content }) => content ?? []));
}

function headContents({ journal }: Machine): ReadonlySet<ContentId> {
  return new Set(journal.heads.under('', undefined, rowsAtOnce).flatMap(({ content }) => content ?? []));
}
