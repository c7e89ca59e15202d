import { useSyncExternalStore } from 'react';

/** The place of the switch in this browser. Without it notifications are off. */
const switchKey = 'lockstep-notices';

/** The place of what this browser was told. */
export const toldKey = 'lockstep-told';

const listeners = new Set<() => void>();

/** True while the reader wants notifications of this browser, in whichever tab that was chosen. */
export function useBrowserNotices(): boolean {
  return useSyncExternalStore(subscribe, areOn);
}

/** Turns the notifications of this browser on or off, in all its tabs. */
export function switchNotices(on: boolean): void {
  if (on) localStorage.setItem(switchKey, 'on');
  else for (const key of [switchKey, toldKey]) localStorage.removeItem(key);
  for (const listener of listeners) listener();
}

function areOn(): boolean {
  return localStorage.getItem(switchKey) === 'on';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab has changed it.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}
