/** The words of PromQL that look like metrics. */
const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2']);

/** Clauses that list labels: `by (peer)`, `on (instance)`, `group_left (member)`. */
const labelLists = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;

/** The names of the metrics in a PromQL query. */
export function metricNames(query: string): readonly string[] {
  const bare = query
    .replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(labelLists, ' ');
  const words = bare.matchAll(/(?<![\w:.])([A-Za-z_:][\w:]*)(?!\s*\(|[\w:])/g);
  return [...new Set([...words].map(([, word = '']) => word))].filter((word) => !keywords.has(word));
}
