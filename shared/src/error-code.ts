/**
 * The codes of problems: expected failures of one path or one member. They are data, shown to people until they end. Each has an entry in
 * docs/ that says what to do.
 */
export const problemCodes = [
  'path-permission', // a file or directory cannot be read or written
  'path-not-utf8', // a name, or a link's target, that is not UTF-8: left alone
  'path-too-long', // name or path above the limits
  'path-in-the-way', // an entry that we must not touch (ignored, special) is where another must go
  'path-special', // socket, pipe, device: skipped
  'path-reserved', // a .lockstep deeper in the folder, another member's state: left alone
  'path-unsendable', // an operation on the path would exceed a limit of the protocol: nothing is journaled
  'path-io', // the disk reported an error
  'file-too-large',
  'content-missing', // no reachable member has the content
  'content-corrupt', // a source sent bytes that do not match the content id
  'file-damaged', // the bytes of a file changed on this disk, and no program wrote to it
  'disk-full',
  'cache-full', // a member on demand has more than its cache may have, and none of it may be dropped
  'copies-full', // a member has no room for copies that it should keep
  'sync-failed', // users' changes could not be made durable
  'power-cut', // files were damaged by a power cut and are fetched again
  'ignore-rule', // a line of .lockstepignore that cannot match anything: left out
  'ignore-file', // .lockstepignore cannot be read as rules: the current ones stay in force
  'folder-missing', // the folder or its .lockstep is gone or replaced: nothing is scanned
  'mount-changed', // a disk inside the folder is gone, or another one is mounted there: nothing there is scanned
  'folder-stalled', // the thread that reads and writes the folder makes no progress: the disk hangs
  'state-unusable', // a directory of .lockstep is gone and cannot be made again: nothing can be written to the folder
  'watch-limit', // inotify limits reached: those directories are scanned by timer
  'clock-skew',
  'digest-mismatch', // two members know the same operations and disagree about the heads
  'journal-rebuilt', // the journal was lost or damaged and has been rebuilt
  'session-failing', // sessions with a member end repeatedly for the same reason
  'cluster-full', // a member was refused: the cluster has the maximum number of members
  'member-refused', // a connection was refused: wrong key, other cluster, other version
  'notify-failing', // a notice could not be sent: the webhook or the command failed
] as const;

export type ProblemCode = (typeof problemCodes)[number];

/** Problems that put no data at risk: some entry is left out, or a member goes on with less. All others are grave. */
const minorProblems: ReadonlySet<string> = new Set<ProblemCode>([
  'path-permission',
  'path-not-utf8',
  'path-too-long',
  'path-in-the-way',
  'path-special',
  'path-reserved',
  'path-unsendable',
  'file-too-large',
  'power-cut',
  'ignore-rule',
  'ignore-file',
  'watch-limit',
  'clock-skew',
  'journal-rebuilt',
  'notify-failing',
]);

/** True for a problem that puts data at risk or stops a member. A newer member may send a code that is not known here: it counts as grave. */
export function isGrave(code: string): boolean {
  return !minorProblems.has(code);
}

/** The codes of failures that stop a command or a session. */
export const errorCodes = [
  'folder-not-found',
  'folder-not-writable',
  'folder-nested',
  'already-member',
  'not-a-member',
  'copied-state',
  'already-running',
  'not-running',
  'mount-unavailable', // the library for mounts is not installed, or a mount point cannot be used
  'member-left', // it retired, and was not asked to join again
  'port-in-use',
  'config-invalid',
  'cluster-key-invalid',
  'cluster-mismatch',
  'protocol-mismatch',
  'identity-invalid',
  'frame-invalid',
  'frame-too-large',
  'journal-damaged',
  'journal-newer',
  'journal-full', // no room on the disk for the journal
  'journal-disk', // the disk under the journal does not answer
  'journal-removed', // a file of the journal was removed or replaced while it was open
  'watcher-unsupported', // the installed release of chokidar lacks a function that we call
  'worker-ended', // the thread that reads and writes the folder
  'handshake-failed', // the address answered, but there was no session
  'unreachable', // no answer
  'self-dialled', // the address is this member's own
  'content-unavailable', // not on this disk in the requested version, or too large to show
  'control-refused', // another member does not let this one control it
  'control-unanswered', // another member was asked to do something, and gave no answer
  'not-removed', // a member could not be removed from the cluster, or taken back
  'not-left', // a member that leaves has files that no other member has
  'not-restored', // an old version could not be put back
  'request-invalid',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** An error with a stable code and a message that says what is wrong and what to do. */
export class LockstepError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LockstepError';
    this.code = code;
  }
}

/** A problem with one path or one member, as data. */
export interface Problem {
  readonly code: ProblemCode;
  readonly path?: string | undefined;
  readonly member?: string | undefined;
  /** A sentence: what is wrong and what to do. */
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}
