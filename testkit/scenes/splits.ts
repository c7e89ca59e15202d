/** All partitions of the items into groups, including a single group: each item joins an existing group or begins a new one. */
function* partitions<Item>(items: readonly Item[]): Generator<readonly (readonly Item[])[]> {
  const [first, ...rest] = items;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const groups of partitions(rest)) {
    yield [[first], ...groups];
    for (const [index, group] of groups.entries()) yield groups.with(index, [first, ...group]);
  }
}

/** All partitions of the items into two groups or more. */
export function splitsOf<Item>(items: readonly Item[]): readonly (readonly (readonly Item[])[])[] {
  return [...partitions(items)].filter((groups) => groups.length > 1);
}

/** One split of each shape, such as 3 and 2, or 4 and 1. */
export function onePerShape<Item>(
  splits: readonly (readonly (readonly Item[])[])[],
): readonly (readonly (readonly Item[])[])[] {
  const shapes = new Map(
    splits.map((groups) => [
      groups
        .map(({ length }) => length)
        .sort()
        .join(),
      groups,
    ]),
  );
  return [...shapes.values()];
}
