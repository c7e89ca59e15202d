import type { MemberApi, Usage } from '../api.ts';
import type { LinkShape } from '../link-proxy.ts';

/** The timeout of every wait in a scene. It is generous for busy machines: a scene tests results, not speed. */
export const patienceMs = 180_000;

/**
 * A need of a scene that not every place can meet: a separate disk or clock for one member, or links that can be slowed down. `image`: a
 * disk in a file, whose power can be cut and whose bytes can rot.
 */
export type Need = 'disk' | 'clock' | 'links' | 'image';

/** A place where scenes are played. */
export interface Place {
  /** Printed after "drills on". */
  readonly title: string;
  /** The reason why it cannot meet a need, and what would help; undefined if it can. */
  lacks(need: Need): string | undefined;
  /** Starts a cluster of connected members with these names. */
  open(names: readonly string[]): Promise<Lab>;
}

/** A member for scenes: its folder, its API and its process. */
export interface LabMember extends MemberApi {
  readonly running: boolean;
  /** Resolves when the agent is ready; with `ready: false` as soon as it was started. */
  start(options?: { readonly ready?: boolean }): Promise<void>;
  stop(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** The disk of one member's folder. */
export interface LabDisk {
  /** Fills the disk to the last byte. */
  fill(): Promise<void>;
  free(): Promise<void>;
  /** Detaches the disk, as if it were unplugged; its content stays on it. */
  detach(): Promise<void>;
  attach(): Promise<void>;
}

/** A disk in a file, which can simulate a power cut and bit rot. */
export interface LabImage {
  /** Ends the agent and drops everything that the kernel had not written. The agent's next start is in another boot of the machine. */
  cutPower(): Promise<void>;
  /** Changes a byte of `marker` in these files of the folder, below the file system. */
  rot(paths: readonly string[], marker: string): Promise<void>;
}

/** The port between scenes and the place where they are played. The members that it was opened with are connected. */
export interface Lab {
  readonly members: readonly LabMember[];
  member(name: string): LabMember;
  /** The path of a directory outside of the member's folder and on the same file system. */
  outside(member: LabMember): string;
  /** Suspends an agent; its connections stay open. */
  freeze(member: LabMember): Promise<void>;
  /** Resumes a suspended agent. */
  thaw(member: LabMember): Promise<void>;
  /** Cuts the links between members of different groups. Resolves when all have noticed. */
  split(groups: readonly (readonly LabMember[])[]): Promise<void>;
  /** Ends a split. Resolves when all running members are connected. */
  heal(): Promise<void>;
  /** Sets the shape of the link between two members. Needs `links`. */
  shape(one: LabMember, other: LabMember, shape: LinkShape): void;
  /** How many connections the links have carried since the start. Needs `links`. */
  readonly connections: number;
  /** Adds a member without any data. Resolves as soon as it was started. */
  addNewcomer(name: string): Promise<LabMember>;
  /** Adds a member on a small separate disk. Needs `disk`. */
  addOnDisk(name: string): Promise<{ readonly member: LabMember; readonly disk: LabDisk }>;
  /** Adds a member on a disk in a file. Needs `image`. */
  addOnImage(name: string): Promise<{ readonly member: LabMember; readonly image: LabImage }>;
  /** Adds a member whose folder can be made read-only for it. */
  addUnprivileged(name: string): Promise<{ readonly member: LabMember; setWritable(writable: boolean): Promise<void> }>;
  /** Adds a member whose clock can be set wrong. Needs `clock`. */
  addWithClock(name: string): Promise<{ readonly member: LabMember; setClock(hoursAhead: number): void }>;
  usage(member: LabMember): Promise<Usage>;
  /** The newest lines of a member's log. */
  log(member: LabMember): Promise<readonly string[]>;
  close(): Promise<void>;
}
