import type { Tone, Verdict } from '@lockstep/shared/present';

/** `stale`: the agent does not answer, so nothing is known. */
export type TabTone = Tone | 'stale';

/** The title of the browser's tab: what needs a person comes first, because only the first words of a tab are seen. */
export function tabTitle(view: string, verdict: Verdict | undefined, isSilent: boolean): string {
  const place = view === 'Overview' ? 'Lockstep' : `${view} · Lockstep`;
  if (isSilent) return `(?) no answer · ${place}`;
  const urgent = verdict?.parts.filter(({ tone }) => tone === 'bad' || tone === 'held') ?? [];
  const [first] = urgent;
  return first === undefined ? `${view} · Lockstep` : `(${urgent.length}) ${first.text} · ${place}`;
}

const colours: Readonly<Record<TabTone, string>> = {
  good: '#0c8599',
  busy: '#1971c2',
  held: '#c2560c',
  bad: '#c92a2a',
  stale: '#6c757d',
};

const waves = 'M8 11.5 12 7.5l4 4 4-4 4 4M8 18.5 12 14.5l4 4 4-4 4 4M8 25.5 12 21.5l4 4 4-4 4 4';

/** The sign on the icon, so that it does not depend on its colour: the usual one, two bars, an exclamation mark, three dots. */
const signs: Readonly<Record<TabTone, string>> = {
  good: waves,
  busy: waves,
  held: 'M12 9v14M20 9v14',
  bad: 'M16 7v11M16 24.5v.1',
  stale: 'M8 16v.1M16 16v.1M24 16v.1',
};

/** The tab's icon as a data URL: an agent that does not answer could not serve another file. */
export function tabIcon(tone: TabTone): string {
  const width = tone === 'good' || tone === 'busy' ? 3 : 5;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colours[tone]}"/>` +
    `<path d="${signs[tone]}" fill="none" stroke="#fff" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
