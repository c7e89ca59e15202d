import type { Config } from './schema.ts';

/** How a setting can be changed by the API and the page. */
export interface ChangeRule {
  /** The name in words. */
  readonly title: string;
  readonly group: 'limits' | 'history' | 'notices' | 'checks' | 'member' | 'access';
  /**
   * `now`: a change takes effect at once; `restart`: at the next start of the agent; `by-hand`: only in `config.toml`, as the change could
   * open the member to others, run a program or cut the person off.
   */
  readonly takesEffect: 'now' | 'restart' | 'by-hand';
  /** A sentence: what a change does, or why it is made by hand. */
  readonly effect: string;
}

const reachedBy = 'The members reach each other by this: a mistake cuts this member off.';
const pageAddress = 'A mistake here opens the dashboard to others, or cuts you off from it.';

/** Of each setting how it can be changed. */
export const changeRules: Readonly<Record<keyof Config, ChangeRule>> = {
  sendLimit: {
    title: 'Limit for sending',
    group: 'limits',
    takesEffect: 'now',
    effect: 'Contents of files above 64 KiB leave this member no faster. All others share a rate that names no member.',
  },
  receiveLimit: {
    title: 'Limit for receiving',
    group: 'limits',
    takesEffect: 'now',
    effect: 'This member requests contents of files above 64 KiB no faster. It has them later.',
  },
  historySize: {
    title: 'Space for old versions',
    group: 'history',
    takesEffect: 'now',
    effect: 'With less space the oldest versions beyond it are removed from this member within a minute, for good.',
  },
  historyAgeMsMax: {
    title: 'Age of old versions',
    group: 'history',
    takesEffect: 'now',
    effect: 'With a lower age older versions are removed from this member within a minute, for good.',
  },
  notifyAbout: {
    title: 'What people are told about',
    group: 'notices',
    takesEffect: 'now',
    effect: 'The webhook and the command are told about these kinds from now on.',
  },
  notifyAfterMs: {
    title: 'Time before a member counts as down for notices',
    group: 'notices',
    takesEffect: 'now',
    effect: 'People are told about a member once it was down for this long.',
  },
  notifyFreeBytesMin: {
    title: 'Free space below which people are told',
    group: 'notices',
    takesEffect: 'now',
    effect: 'People are told about each member whose disk has less free space than this.',
  },
  notifyWebhook: {
    title: 'Webhook',
    group: 'notices',
    takesEffect: 'by-hand',
    effect: 'The agent sends names of files and members there, from inside your network, and the URL is a secret.',
  },
  notifyCommand: {
    title: 'Command for notices',
    group: 'notices',
    takesEffect: 'by-hand',
    effect: 'It is a program that the agent runs: a person who sets it can run any program as the agent’s user.',
  },
  rescanIntervalMs: {
    title: 'Interval of whole scans',
    group: 'checks',
    takesEffect: 'now',
    effect: 'A shorter interval finds sooner what the watcher missed, and reads the directories more often.',
  },
  scrubIntervalMs: {
    title: 'Interval of scrubs',
    group: 'checks',
    takesEffect: 'now',
    effect: 'A shorter interval finds damage sooner, and reads the disk more.',
  },
  name: {
    title: 'Name of this member',
    group: 'member',
    takesEffect: 'restart',
    effect: 'All members show the new name, and new conflict copies have it. Old copies keep their names.',
  },
  mayBeAway: {
    title: 'This machine may be away',
    group: 'member',
    takesEffect: 'restart',
    effect:
      'While this machine is off, the others show it in grey as away, and send no notice. They still wait for it where all must have a file.',
  },
  content: {
    title: 'Contents on this member',
    group: 'member',
    takesEffect: 'restart',
    effect:
      'on-demand drops the contents that do not fit into the cache, if other members have them. full fetches all contents, which takes their space.',
  },
  cacheSize: {
    title: 'Space for contents on demand',
    group: 'member',
    takesEffect: 'now',
    effect: 'With less space the contents that were not used for long leave this member, if other members have them.',
  },
  prefetch: {
    title: 'Fetch files before they are read',
    group: 'member',
    takesEffect: 'now',
    effect:
      'With content on demand: true also fetches the files that are probably read next, while no reader waits. false fetches only what is read.',
  },
  copiesAwayMs: {
    title: 'Time until copies are made elsewhere',
    group: 'member',
    takesEffect: 'now',
    effect: 'With a shorter time, copies of files are made elsewhere also when a member is only off for a while.',
  },
  compression: {
    title: 'Compression of contents',
    group: 'limits',
    takesEffect: 'restart',
    effect:
      'auto compresses for members behind a line slower than 25 MB/s, if a content shrinks; always costs processor time on faster lines too.',
  },
  logLevel: {
    title: 'Level of the log',
    group: 'member',
    takesEffect: 'restart',
    effect: 'Debug writes a line for each operation; error leaves out all warnings.',
  },
  allowControl: {
    title: 'What other members may do here',
    group: 'access',
    takesEffect: 'by-hand',
    effect: 'Each person who may use the page of another member gets this right over this one.',
  },
  listen: { title: 'Address for members', group: 'access', takesEffect: 'by-hand', effect: reachedBy },
  addresses: { title: 'Announced addresses', group: 'access', takesEffect: 'by-hand', effect: reachedBy },
  peers: { title: 'Members to connect to', group: 'access', takesEffect: 'by-hand', effect: reachedBy },
  dashboard: { title: 'Address of the dashboard', group: 'access', takesEffect: 'by-hand', effect: pageAddress },
  dashboardGuard: { title: 'Guard of the dashboard', group: 'access', takesEffect: 'by-hand', effect: pageAddress },
  dashboardCertificate: {
    title: 'Certificate of the dashboard',
    group: 'access',
    takesEffect: 'by-hand',
    effect: pageAddress,
  },
  dashboardKey: { title: 'Key of the certificate', group: 'access', takesEffect: 'by-hand', effect: pageAddress },
};
