/** Browsers by a word of their `User-Agent`. Most claim to be several others as well: the first that is found counts. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'an iPhone'],
  ['iPad', 'an iPad'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A browser in words, `Firefox on Linux`, from the header `User-Agent`. Another program is what comes first in the header: `curl`. */
export function browserName(userAgent: string): string {
  const browser = browsers.find(([word]) => userAgent.includes(`${word}/`))?.[1];
  const system = systems.find(([word]) => userAgent.includes(word))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return /^[\w .-]{1,40}/.exec(userAgent)?.[0].trim() || 'another program';
}
