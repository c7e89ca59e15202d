import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { useRepeat } from '../../live/use-repeat.ts';
import { DirectoryReader, type DirectoryState } from './directory-reader.ts';

/**
 * The listing of a directory, read again whenever `trigger` changes. It is read at least up to the entry `sought`; `want` reads up to a row
 * that is about to come into sight.
 */
export function useDirectory(
  path: string,
  trigger: unknown,
  sought: string | undefined,
): DirectoryState & { readonly want: (row: number) => void; readonly again: () => void } {
  const reader = useMemo(() => new DirectoryReader(path), [path]);
  const state = useSyncExternalStore(reader.subscribe, reader.get);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new trigger reads again, though it is not part of the request
  useEffect(() => reader.refresh(), [reader, trigger]);
  useEffect(() => {
    if (sought !== undefined) reader.seek(sought);
  }, [reader, sought]);
  const want = useCallback((row: number) => reader.want(row), [reader]);
  const again = useCallback(() => reader.refresh(), [reader]);
  useRepeat(state.isUnanswered, again);
  return { ...state, want, again };
}
