import type { Conflict, ResolveResult } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { useState } from 'react';

type Result = ResolveResult['results'][number];

/** The settling of conflicts from this page, and its results. */
export interface Settling {
  readonly isBusy: boolean;
  /** The last result of each conflict, by the path of its copy. */
  readonly results: ReadonlyMap<string, Result>;
  /** A sentence about the last result; empty before the first one. */
  readonly said: string;
  /** The path of the copy of the conflict that was settled last, if it was settled alone. */
  readonly justSettled: string | undefined;
  /** True for a conflict that was settled and is still listed: the journal reports the end a moment later. An undone one has another version. */
  readonly isGone: (conflict: Conflict) => boolean;
  /** Asks the agent to settle these conflicts, and keeps its answers. */
  readonly settle: (wanted: readonly Conflict[], ask: () => Promise<readonly Result[]>) => Promise<void>;
  /** Replaces the sentence, after another action than settling. */
  readonly say: (sentence: string) => void;
}

/** Settles conflicts, one request at a time. `settled` is called after each. */
export function useSettle(settled: () => void): Settling {
  const [isBusy, setBusy] = useState(false);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [said, setSaid] = useState('');
  const [justSettled, setJustSettled] = useState<string>();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  return {
    isBusy,
    results,
    said,
    justSettled,
    isGone: (conflict) => gone.has(versionOf(conflict)),
    settle: async (wanted, ask) => {
      setBusy(true);
      const answers = await ask();
      const done = new Set(answers.filter((result) => result.done).map(({ copy }) => copy));
      const ended = wanted.filter(({ copy }) => done.has(copy.path));
      setGone((before) => new Set([...before, ...ended.map(versionOf)]));
      setResults((before) => new Map([...before, ...answers.map((result) => [result.copy, result] as const)]));
      setSaid(sentenceOf(answers));
      setJustSettled(wanted.length === 1 ? ended[0]?.copy.path : undefined);
      setBusy(false);
      settled();
    },
    say: (sentence) => {
      setSaid(sentence);
      setJustSettled(undefined);
    },
  };
}

/** Names the version of a conflict copy. */
function versionOf({ copy }: Conflict): string {
  return `${copy.path}\n${copy.origin}:${copy.seq}`;
}

/** The results in one sentence. */
function sentenceOf(results: readonly Result[]): string {
  const done = results.filter((result) => result.done);
  const left = results.length - done.length;
  const [only] = done;
  const where = done.length === 1 && only?.path !== undefined ? ` The copy is ${only.path} now.` : '';
  const settled = done.length === 0 ? '' : `${formatItems(done.length, 'conflict')} settled.${where}`;
  return left === 0
    ? settled
    : `${settled} ${formatItems(left, 'conflict')} could not be settled: the reason is below.`.trim();
}
