/**
 * The number of rows that each cache of the journal keeps, some ten megabytes at most: somewhat more than the paths of a renamed directory of
 * 10,000 entries, the old and the new ones. Such a rename reads each row at each of its steps. A smaller cache would never have the next one.
 */
export const rowsKeptMax = 22_000;
