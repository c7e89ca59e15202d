import {
  formatHostPort,
  type HostPort,
  historyAgeMsMax,
  historyDiskShareMax,
  isAnyHost,
  parseHostPort,
  rescanIntervalMs,
  scrubIntervalMs,
} from '@lockstep/shared';
import { type NoticeKind, noticeFreeBytesMin, noticeKinds } from '@lockstep/shared/present';
import { z } from 'zod';
import {
  type DiskRoom,
  formatDiskRoom,
  formatDuration,
  formatSize,
  parseDiskRoom,
  parseDuration,
  parseRate,
  parseSize,
} from './quantity.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

const dashboardGuards = ['own', 'outside'] as const;

type DashboardGuard = (typeof dashboardGuards)[number];

/** The settings of one member, from its `config.toml`, the environment and the command line. */
export interface Config {
  /** The member's name, for people and for the names of conflict copies. */
  readonly name: string;
  /** The address that the other members connect to. Port 0: any free port. */
  readonly listen: HostPort;
  /** `host:port` addresses announced to the other members; if empty, they follow from `listen`. */
  readonly addresses: readonly string[];
  /** The address of the API and the dashboard. Port 0: any free port. */
  readonly dashboard: HostPort;
  /** What keeps strangers from an address of the dashboard other than loopback: TLS and a password, or something outside. */
  readonly dashboardGuard: DashboardGuard;
  /** Files with the certificate and the key of the dashboard, relative to the state directory; empty for none. */
  readonly dashboardCertificate: string;
  readonly dashboardKey: string;
  /** The machine is off at times: the other members do not take that for a fault. */
  readonly mayBeAway: boolean;
  /** `host:port` addresses of members to connect to. */
  readonly peers: readonly string[];
  readonly logLevel: LogLevel;
  readonly rescanIntervalMs: number;
  readonly historySize: DiskRoom;
  readonly historyAgeMsMax: number;
  readonly scrubIntervalMs: number;
  /** Bytes per second of contents to, and from, all members together; infinite for no limit. */
  readonly sendBytesPerSecondMax: number;
  readonly receiveBytesPerSecondMax: number;
  /** The URL to which notices are posted; empty for none. */
  readonly notifyWebhook: string;
  /** The program that is run for notices, and its arguments; empty for none. */
  readonly notifyCommand: readonly string[];
  readonly notifyAbout: readonly NoticeKind[];
  /** The time for which a member must have been down before people are told. */
  readonly notifyAfterMs: number;
  /** Free space of a disk below which people are told. */
  readonly notifyFreeBytesMin: number;
}

/** A value as written in `config.toml`; in the environment and in flags a list is joined by commas. */
export type ConfigText = string | readonly string[];

/** One key of `config.toml`: all data to read, write and explain it. */
export interface ConfigKey<Field extends keyof Config = keyof Config> {
  readonly field: Field;
  /** The name in `config.toml`. */
  readonly key: string;
  readonly environment: string;
  /** The name of the option of `up` and `config`, without the dashes. */
  readonly flag: string;
  /** The placeholder for the value in `--help`. */
  readonly placeholder: string;
  readonly list: boolean;
  /** A value of true or false, and an option without a value. */
  readonly isSwitch?: boolean | undefined;
  /** The value may contain a secret: it is neither shown nor logged. */
  readonly isSecret?: boolean | undefined;
  /** The values allowed, if there are only a few; of a list, those of its elements. */
  readonly choices?: readonly string[] | undefined;
  /** Lines for people: the comment in `config.toml`. */
  readonly comment: readonly string[];
  /** The allowed values, as the end of a sentence that begins with "must be". */
  readonly allowed: string;
  readonly schema: z.ZodType<Config[Field]>;
  readonly defaultText: ConfigText;
}

function custom<Value>(read: (text: string) => Value | undefined): z.ZodType<Value> {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value === undefined) {
      context.addIssue({ code: 'custom' });
      return z.NEVER;
    }
    return value;
  });
}

/** Below it a block of 1 MiB takes so long that the receiver may give its source up. */
const limitBytesMin = 262_144;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

const hostPort = custom(parseHostPort);

/** An address to dial: not port 0, and not an address that means every interface. */
const dialAddress = custom((text) => {
  const parsed = parseHostPort(text);
  return parsed === undefined || parsed.port === 0 || isAnyHost(parsed.host) ? undefined : formatHostPort(parsed);
});

const dialAddresses = z.array(dialAddress).max(256);

function duration(minMs: number, maxMs: number): z.ZodType<number> {
  return custom((text) => {
    const ms = parseDuration(text);
    return ms === undefined || ms < minMs || ms > maxMs ? undefined : ms;
  });
}

/** An address of the web. fetch refuses one that holds a user and a password. */
const webhook = z
  .union([z.literal(''), z.url({ protocol: /^https?$/ })])
  .refine((text) => text === '' || (new URL(text).username === '' && new URL(text).password === ''));

const size = custom(parseSize);

const rate = custom((text) => {
  const bytesPerSecond = parseRate(text);
  return bytesPerSecond === undefined || bytesPerSecond < limitBytesMin ? undefined : bytesPerSecond;
});

const rates = `none, or a rate from ${formatSize(limitBytesMin)}/s, such as "2 MiB/s" (units B, KiB, MiB, GiB)`;

function define<Field extends keyof Config>(
  key: Omit<ConfigKey<Field>, 'environment' | 'flag'> & { readonly flag?: string },
): ConfigKey<Field> {
  return {
    ...key,
    environment: `LOCKSTEP_${key.key.toUpperCase()}`,
    flag: key.flag ?? key.key.replaceAll('_', '-'),
  };
}

/** The keys in the order in which `config.toml` and `lockstep config` show them. */
export const configKeys: readonly ConfigKey[] = [
  define({
    field: 'name',
    key: 'name',
    placeholder: 'NAME',
    list: false,
    comment: ["This member's name: shown to people, and part of the names of conflict copies."],
    allowed: '1 to 40 letters, digits, dots, dashes or underscores, the first one a letter or digit',
    schema: z.string().regex(namePattern),
    defaultText: 'member',
  }),
  define({
    field: 'listen',
    key: 'listen',
    placeholder: 'HOST:PORT',
    list: false,
    comment: [
      'The address that the other members connect to, as HOST:PORT or [IPv6]:PORT. 0.0.0.0 means every interface of this machine.',
      'A member that connects must have the cluster key; all traffic is encrypted.',
    ],
    allowed: 'HOST:PORT with a port from 0 to 65535, such as "0.0.0.0:4700" or "[::1]:4700"',
    schema: hostPort,
    defaultText: '0.0.0.0:4700',
  }),
  define({
    field: 'addresses',
    key: 'addresses',
    flag: 'address',
    placeholder: 'HOST:PORT',
    list: true,
    comment: [
      'The addresses at which the others can reach this member, best first, each as HOST:PORT or [IPv6]:PORT (a port is required). If empty, they follow from "listen".',
      'Needed behind address translation, or if a host name is better than an IP address.',
    ],
    allowed: 'a list of HOST:PORT that others can dial, such as ["ant.example.net:4700"]',
    schema: dialAddresses,
    defaultText: [],
  }),
  define({
    field: 'dashboard',
    key: 'dashboard',
    placeholder: 'HOST:PORT',
    list: false,
    comment: [
      'The address of the dashboard. Leave it on 127.0.0.1, and reach it by a tunnel (ssh -L) from other machines.',
      'Any other address needs a certificate (below) and a password: lockstep dashboard password',
    ],
    allowed: 'HOST:PORT with a port from 0 to 65535, such as "127.0.0.1:4800"',
    schema: hostPort,
    defaultText: '127.0.0.1:4800',
  }),
  define({
    field: 'dashboardCertificate',
    key: 'dashboard_certificate',
    placeholder: 'FILE',
    list: false,
    comment: [
      'The certificate of the dashboard for TLS, in PEM with all intermediate ones. A relative path begins in .lockstep.',
    ],
    allowed: 'the path of a file',
    schema: z.string(),
    defaultText: '',
  }),
  define({
    field: 'dashboardKey',
    key: 'dashboard_key',
    placeholder: 'FILE',
    list: false,
    comment: ['The private key of that certificate, in PEM.'],
    allowed: 'the path of a file',
    schema: z.string(),
    defaultText: '',
  }),
  define({
    field: 'dashboardGuard',
    key: 'dashboard_guard',
    placeholder: 'GUARD',
    list: false,
    comment: [
      'outside: the dashboard may listen on any address without a certificate and a password, because something outside guards it:',
      'a container whose port is published on 127.0.0.1 only, or a proxy with TLS. Browsers log in all the same.',
    ],
    allowed: 'own or outside',
    schema: z.enum(dashboardGuards),
    defaultText: 'own',
  }),
  define({
    field: 'peers',
    key: 'peers',
    flag: 'peer',
    placeholder: 'HOST:PORT',
    list: true,
    comment: [
      'Members to connect to at the start, each as HOST:PORT or [IPv6]:PORT (a port is required; the default of a member is 4700).',
      'One that is up is enough: it knows the others.',
    ],
    allowed: 'a list of HOST:PORT, such as ["192.0.2.7:4700"]',
    schema: dialAddresses,
    defaultText: [],
  }),
  define({
    field: 'mayBeAway',
    key: 'may_be_away',
    placeholder: 'BOOLEAN',
    list: false,
    isSwitch: true,
    choices: ['true', 'false'],
    comment: [
      'This machine is off at times, as a laptop is: the others then show this member in grey as away, and tell nobody.',
      'They still count it: what it alone has is not on them, and a wait for all members waits for it.',
    ],
    allowed: 'true or false',
    schema: z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]),
    defaultText: 'false',
  }),
  define({
    field: 'logLevel',
    key: 'log_level',
    placeholder: 'LEVEL',
    list: false,
    choices: logLevels,
    comment: ['The level of the log on standard error: debug, info, warn or error.'],
    allowed: 'debug, info, warn or error',
    schema: z.enum(logLevels),
    defaultText: 'warn',
  }),
  define({
    field: 'rescanIntervalMs',
    key: 'rescan_interval',
    placeholder: 'DURATION',
    list: false,
    comment: ['The interval at which the whole folder is compared with the journal, whatever the watcher has seen.'],
    allowed: 'a duration from 1s to 30d, such as "10m"',
    schema: duration(1_000, 30 * 86_400_000),
    defaultText: formatDuration(rescanIntervalMs),
  }),
  define({
    field: 'historySize',
    key: 'history_size',
    placeholder: 'SIZE',
    list: false,
    comment: [
      'The disk space for replaced and deleted versions, in bytes or as a part of the disk; the oldest go first, and sooner on a full disk.',
      'Content that an open conflict needs is kept beyond it.',
    ],
    allowed: 'a part of the disk, such as "10 %", or a size, such as "1 GiB" (units B, KiB, MiB, GiB, TiB)',
    schema: custom(parseDiskRoom),
    defaultText: formatDiskRoom({ share: historyDiskShareMax }),
  }),
  define({
    field: 'historyAgeMsMax',
    key: 'history_age',
    placeholder: 'DURATION',
    list: false,
    comment: ['The time that a replaced or deleted version stays in .lockstep/history.'],
    allowed: 'a duration from 1m to 3650d, such as "30d"',
    schema: duration(60_000, 3_650 * 86_400_000),
    defaultText: formatDuration(historyAgeMsMax),
  }),
  define({
    field: 'scrubIntervalMs',
    key: 'scrub_interval',
    placeholder: 'DURATION',
    list: false,
    comment: [
      'The interval at which all files are read and compared with what was written, to find damage by a failing disk.',
    ],
    allowed: 'a duration from 1s to 3650d, such as "30d"',
    schema: duration(1_000, 3_650 * 86_400_000),
    defaultText: formatDuration(scrubIntervalMs),
  }),
  define({
    field: 'sendBytesPerSecondMax',
    key: 'send_limit',
    placeholder: 'RATE',
    list: false,
    comment: [
      'The rate at which this member sends contents of files, to all others together. Changes themselves and files up to 64 KiB are not',
      'limited: they leave at once.',
    ],
    allowed: rates,
    schema: rate,
    defaultText: 'none',
  }),
  define({
    field: 'receiveBytesPerSecondMax',
    key: 'receive_limit',
    placeholder: 'RATE',
    list: false,
    comment: [
      'The rate at which this member requests contents of files, from all others together. What is small comes at once.',
    ],
    allowed: rates,
    schema: rate,
    defaultText: 'none',
  }),
  define({
    field: 'notifyWebhook',
    key: 'notify_webhook',
    placeholder: 'URL',
    list: false,
    isSecret: true,
    comment: [
      'The URL to which a notice is posted as JSON when something needs a person, such as "https://hooks.example.net/T0/B0".',
      'Members with the same URL agree on one that posts. Try it: lockstep notify --test',
    ],
    allowed: 'a URL that begins with http:// or https://, without a user and a password, or "" for none',
    schema: webhook,
    defaultText: '',
  }),
  define({
    field: 'notifyCommand',
    key: 'notify_command',
    placeholder: 'PROGRAM',
    list: true,
    isSecret: true,
    comment: [
      'The program that is run for each notice, and its arguments, such as ["/usr/local/bin/page-me", "--quietly"]. No shell is used,',
      'unless you name one: ["sh", "-c", "echo $LOCKSTEP_NOTICE_TEXT | mail -s Lockstep me"]. The notice is on its input as JSON.',
    ],
    allowed: 'a list of a program and its arguments, such as ["notify-send", "Lockstep"]',
    schema: z
      .array(z.string().max(4_096))
      .max(64)
      .refine(([program]) => program !== ''),
    defaultText: [],
  }),
  define({
    field: 'notifyAbout',
    key: 'notify_about',
    placeholder: 'KIND',
    list: true,
    choices: noticeKinds,
    comment: ['What people are told about by the webhook and the command: down, conflict, disk, problem.'],
    allowed: 'a list of down, conflict, disk and problem, such as ["down", "disk"]',
    schema: z.array(z.enum(noticeKinds)).max(noticeKinds.length),
    defaultText: noticeKinds,
  }),
  define({
    field: 'notifyAfterMs',
    key: 'notify_after',
    placeholder: 'DURATION',
    list: false,
    comment: ['The time for which a member must have been down before people are told.'],
    allowed: 'a duration from 1s to 30d, such as "5m"',
    schema: duration(1_000, 30 * 86_400_000),
    defaultText: '5m',
  }),
  define({
    field: 'notifyFreeBytesMin',
    key: 'notify_free_space',
    placeholder: 'SIZE',
    list: false,
    comment: ['People are told about a member with less free disk space than this; "0 B" for never.'],
    allowed: 'a size, such as "1 GiB" (units B, KiB, MiB, GiB, TiB)',
    schema: size,
    defaultText: formatSize(noticeFreeBytesMin),
  }),
] as readonly ConfigKey[];
