import { readFile } from 'node:fs/promises';

const documents = new URL('../../../docs/', import.meta.url);

/** The metrics that docs/METRICS.md describes, with their types. */
export async function documentedMetrics(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(new URL('METRICS.md', documents), 'utf8');
  return new Map([...page.matchAll(/^\| `(\w+)` *\| (\w+) *\|/gm)].map(([, name = '', type = '']) => [name, type]));
}

/** The anchors of the headings of docs/OPERATIONS.md. */
export async function runbookAnchors(): Promise<ReadonlySet<string>> {
  const page = await readFile(new URL('OPERATIONS.md', documents), 'utf8');
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
