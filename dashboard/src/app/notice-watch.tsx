import type { Notices, Status } from '@lockstep/shared/api';
import {
  afterTelling,
  causesOf,
  decideNotices,
  isHidden,
  noticeKinds,
  type Remembered,
} from '@lockstep/shared/present';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useStatus } from '../live/status-context.ts';
import { useApi } from '../live/use-api.ts';
import { toldKey } from '../parts/browser-notices.ts';
import { memberLink } from '../parts/links.ts';

/** Only the tab that holds this lock tells, so that one cause is one notification in all tabs. */
const lockName = 'lockstep-notices';

/** Shows a notification of the browser for each new cause. */
export function NoticeWatch() {
  const status = useStatus();
  const { data } = useApi<Notices>('/notices');
  const [, navigate] = useLocation();
  const speaks = useLock(lockName);
  useEffect(() => {
    if (speaks && data !== undefined && Notification.permission === 'granted') tell(status, data, navigate);
  }, [speaks, data, status, navigate]);
  return null;
}

function tell(status: Status, { afterMs, freeBytesMin }: Notices, navigate: (to: string) => void): void {
  const causes = causesOf(status, freeBytesMin);
  const stored = readTold();
  const hidden = (each: Remembered): boolean => isHidden(status, each);
  const rules = { about: noticeKinds, afterMs, speaks: () => true };
  const notices = decideNotices(stored ?? [], causes, hidden, status.now, rules);
  // The reader has the page before the eyes when turning this on: what is there already is no news.
  const begun = stored === undefined ? notices.remembered : notices.begun;
  if (stored !== undefined) for (const each of begun) show(each, status, navigate);
  // The end of a cause sends no notification: the reader closes that of its beginning, or it is replaced when the cause returns.
  localStorage.setItem(toldKey, JSON.stringify(afterTelling({ ...notices, begun }, causes, status.now)));
}

function show({ key, kind, member, text }: Remembered, status: Status, navigate: (to: string) => void): void {
  // The tag makes one notification of those of several browsers' windows.
  const shown = new Notification(text, {
    tag: `lockstep ${key}`,
    body: `Lockstep, as ${status.member.name} sees it`,
    icon: '/favicon.svg',
  });
  const own = member === status.member.id;
  shown.onclick = () => {
    window.focus();
    navigate(kind === 'conflict' ? '/conflicts' : own ? '/problems' : memberLink(member));
    shown.close();
  };
}

/** The stored records of notices; undefined before the first time. */
function readTold(): readonly Remembered[] | undefined {
  const text = localStorage.getItem(toldKey);
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as readonly Remembered[];
  } catch {
    return undefined;
  }
}

/** True while this tab holds the lock. It gets it when the tab that holds it is closed. */
function useLock(name: string): boolean {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    const held = (): Promise<void> => {
      setHeld(true);
      return new Promise((release) => leaving.signal.addEventListener('abort', () => release()));
    };
    navigator.locks.request(name, { signal: leaving.signal }, held).catch(() => undefined);
    return () => leaving.abort();
  }, [name]);
  return isHeld;
}
