/** The links between members that compress file contents: those that are slow enough, none, or all. */
export const compressions = ['auto', 'never', 'always'] as const;
export type Compression = (typeof compressions)[number];
