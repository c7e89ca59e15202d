import { nameOf, parentOf } from '@lockstep/shared';
import type { SearchResult, TreeEntry, TreePage, TreeQuery } from '@lockstep/shared/api';
import { Random } from '../sim/random.ts';
import type { Part } from './cast.ts';

const hourMs = 3_600_000;

/** Directories with what is directly in them; a name with a slash at its end is a directory. */
const listing: Readonly<Record<string, readonly string[]>> = {
  '': ['Bridge/', 'Letters/', 'Minutes/', 'Photos 2026/', 'Budget 2027.ods', 'Logo.svg', 'Read me first.md'],
  Bridge: ['Drawings/', 'survey.csv', 'Estimate of the quay wall, third version, with the comments of the office.pdf'],
  'Bridge/Drawings': ['north elevation.dwg', 'quay.dwg', 'section A.dwg', 'section B.dwg', 'site plan.dwg'],
  Letters: ['to the harbour office.md', 'to the surveyor.md'],
  Minutes: ['2026-11-05.md', '2026-11-19.conflict-20261119T101502004Z-bee.md', '2026-11-19.md'],
  'Photos 2026': Array.from({ length: 10_000 }, (_, index) => `IMG_${String(index + 1).padStart(5, '0')}.jpg`),
};

/** A tree that stands still. */
export class Tree {
  readonly #entries = new Map<string, readonly TreeEntry[]>();
  readonly #members: number;

  constructor(members: readonly Part[], begunAt: number) {
    this.#members = members.length;
    const random = new Random(7);
    for (const [directory, names] of Object.entries(listing)) {
      const entries = names.map((shown, index): TreeEntry => {
        const name = shown.replace(/\/$/, '');
        const writer = random.pick(members);
        const missing = index % 5 === 1 ? members.slice(3, 3 + random.below(9)).map(({ id }) => id) : [];
        return {
          path: directory === '' ? name : `${directory}/${name}`,
          name,
          ...(name === shown ? { type: 'file', size: 900 + random.below(7_000_000) } : { type: 'directory' }),
          origin: `${writer.id}.abcdefgh`,
          seq: 1 + random.below(40_000),
          writer: writer.id,
          writerName: writer.name,
          at: begunAt - random.below(900) * hourMs,
          holding: members.length - missing.length,
          missing,
          conflict: name.startsWith('2026-11-19'),
          pending: false,
        };
      });
      this.#entries.set(directory, entries);
    }
  }

  page({ path, after, limit }: TreeQuery): TreePage {
    const all = this.#entries.get(path) ?? [];
    const from = after === undefined ? 0 : all.findIndex(({ name }) => name === after) + 1;
    const entries = all.slice(from, from + limit);
    const next = from + limit < all.length ? (entries.at(-1)?.name ?? null) : null;
    return { path, entries, total: all.length, next, members: this.#members };
  }

  search(name: string, limit: number): SearchResult {
    const wanted = name.toLowerCase();
    const found = [...this.#entries.values()].flat().filter((entry) => entry.name.toLowerCase().includes(wanted));
    return { entries: found.slice(0, limit), more: found.length > limit, members: this.#members };
  }

  find(path: string): TreeEntry | undefined {
    return this.#entries.get(parentOf(path))?.find(({ name }) => name === nameOf(path));
  }
}
