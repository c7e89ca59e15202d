import { type RefObject, useEffect, useRef } from 'react';
import type { Settling } from './use-settle.ts';

/** The elements that may get the focus after a settlement. */
export interface SettledFocus {
  /** The element that says what was done. */
  readonly sayer: RefObject<HTMLDivElement | null>;
  readonly list: RefObject<HTMLUListElement | null>;
  /** Notes the index in the list of a conflict that is about to be settled alone; undefined for many. */
  readonly leaves: (place: number | undefined) => void;
}

/** The pressed button disappears with its conflict: the focus moves to the next conflict, or to the result of many. */
export function useSettledFocus(results: Settling['results']): SettledFocus {
  const sayer = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const place = useRef<number>(undefined);
  useEffect(() => {
    if (results.size === 0 || (place.current !== undefined && document.activeElement !== document.body)) return;
    const toggles = list.current?.querySelectorAll<HTMLElement>('[aria-expanded]') ?? [];
    const next = place.current === undefined ? undefined : toggles[Math.min(place.current, toggles.length - 1)];
    (next ?? sayer.current)?.focus({ preventScroll: next === undefined });
  }, [results]);
  return {
    sayer,
    list,
    leaves: (settled) => {
      place.current = settled;
    },
  };
}
