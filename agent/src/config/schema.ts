import type { Compression, HostPort } from '@lockstep/shared';
import type { ControlLevel } from '@lockstep/shared/api';
import type { NoticeKind } from '@lockstep/shared/present';
import type { z } from 'zod';
import type { DiskRoom } from './quantity.ts';
import type { RateRule } from './rate-rules.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

export const dashboardGuards = ['own', 'outside'] as const;

type DashboardGuard = (typeof dashboardGuards)[number];

export const contentModes = ['full', 'on-demand'] as const;

type ContentMode = (typeof contentModes)[number];

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
  /** The protection of a dashboard address other than loopback: TLS and a password, or something outside the agent. */
  readonly dashboardGuard: DashboardGuard;
  /** Files with the certificate and the key of the dashboard, relative to the state directory; empty for none. */
  readonly dashboardCertificate: string;
  readonly dashboardKey: string;
  /** The machine is off at times: the other members do not take that for a fault. */
  readonly mayBeAway: boolean;
  /** Whether this member has the whole folder, or fetches contents on demand; and the room for these. */
  readonly content: ContentMode;
  readonly cacheSize: DiskRoom;
  readonly copiesAwayMs: number;
  /** Such a member fetches files also before they are read. */
  readonly prefetch: boolean;
  /** The actions that other members may take on this one. */
  readonly allowControl: ControlLevel;
  /** `host:port` addresses of members to connect to. */
  readonly peers: readonly string[];
  readonly logLevel: LogLevel;
  readonly rescanIntervalMs: number;
  readonly historySize: DiskRoom;
  readonly historyAgeMsMax: number;
  readonly scrubIntervalMs: number;
  /** The limits for contents to, and from, other members. */
  readonly sendLimit: readonly RateRule[];
  readonly receiveLimit: readonly RateRule[];
  /** The links to other members on which contents are compressed. */
  readonly compression: Compression;
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
