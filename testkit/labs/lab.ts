import type { MemberApi, Usage } from '../api.ts';
import type { LinkShape } from '../link-proxy.ts';

/** For what takes a moment on a machine that does nothing else: a scene is about what comes out. */
export const patienceMs = 180_000;

/**
 * What a scene needs that not every place can give: a disk for one member alone, a clock of its own, links that are made slow, a
 * disk in a file, whose power can be cut and whose bytes can rot.
 */
export type Need = 'disk' | 'clock' | 'links' | 'image';

/** Where scenes are played. */
export interface Place {
  /** For people: drills on … */
  readonly title: string;
  /** Why it cannot give what a scene needs, and what would help; undefined when it can. */
  lacks(need: Need): string | undefined;
  /** A cluster with members of these names, connected. */
  open(names: readonly string[]): Promise<Lab>;
}

/** A member as scenes see it: its folder, its API, and its process. */
export interface LabMember extends MemberApi {
  readonly running: boolean;
  /** Resolves when it is ready; with `ready: false` as soon as it was started. */
  start(options?: { readonly ready?: boolean }): Promise<void>;
  stop(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** The disk that one member's folder is on. */
export interface LabDisk {
  /** Leaves not a byte of room. */
  fill(): Promise<void>;
  free(): Promise<void>;
  /** Takes the disk away, as when it is unplugged: what was on it stays on it. */
  detach(): Promise<void>;
  attach(): Promise<void>;
}

/** A disk in a file. It can do what a disk does when its power goes, or when it gets old. */
export interface LabImage {
  /** The agent ends, and what the kernel had not written is gone. The agent starts in another boot of the machine. */
  cutPower(): Promise<void>;
  /** Changes a byte of `marker` in these files, which are paths in the folder, behind the back of the file system. */
  rot(paths: readonly string[], marker: string): Promise<void>;
}

/** The port between scenes and the place where they are played. The members that it was opened with are there and connected. */
export interface Lab {
  readonly members: readonly LabMember[];
  member(name: string): LabMember;
  /** A directory outside of the member's folder and on the same file system. */
  outside(member: LabMember): string;
  /** Takes all processor time from an agent: its connections stay open. */
  freeze(member: LabMember): Promise<void>;
  /** Gives it back. */
  thaw(member: LabMember): Promise<void>;
  /** Members of different groups hear nothing of each other any more. Resolves when they have noticed. */
  split(groups: readonly (readonly LabMember[])[]): Promise<void>;
  /** Ends a split. Resolves when all that run are connected. */
  heal(): Promise<void>;
  /** From now on the link between two members is so. Needs `links`. */
  shape(one: LabMember, other: LabMember, shape: LinkShape): void;
  /** How many connections the links have carried since the start. Needs `links`. */
  readonly connections: number;
  /** One member more, which knows nothing yet. Resolves as soon as it was started. */
  addNewcomer(name: string): Promise<LabMember>;
  /** One member more, on a small disk of its own. Needs `disk`. */
  addOnDisk(name: string): Promise<{ readonly member: LabMember; readonly disk: LabDisk }>;
  /** One member more, on a disk in a file. Needs `image`. */
  addOnImage(name: string): Promise<{ readonly member: LabMember; readonly image: LabImage }>;
  /** One member more whose folder can be made read-only for it. */
  addUnprivileged(name: string): Promise<{ readonly member: LabMember; setWritable(writable: boolean): Promise<void> }>;
  /** One member more whose clock can be set wrong. Needs `clock`. */
  addWithClock(name: string): Promise<{ readonly member: LabMember; setClock(hoursAhead: number): void }>;
  usage(member: LabMember): Promise<Usage>;
  /** The newest lines of a member's log. */
  log(member: LabMember): Promise<readonly string[]>;
  close(): Promise<void>;
}
