import type { MemberReport, Status } from '../api.ts';

/** A member without problems that lacks nothing; `ant` is the asked member. Names are ids here. */
export function member(name: string, more: Partial<MemberReport> = {}): MemberReport {
  return {
    id: name,
    name,
    self: name === 'ant',
    state: 'active',
    condition: 'active',
    connected: true,
    rttMs: 1,
    behind: 0,
    behindSeconds: 0,
    addresses: [`${name}.example.net:4700`],
    ...more,
  };
}

/** The status that ant reports of a cluster of these members. */
export function status(members: readonly MemberReport[], more: Partial<Status> = {}): Status {
  return {
    member: {
      id: 'ant',
      name: 'ant',
      state: 'active',
      software: '0.1.0',
      startedAt: 0,
      address: '',
      addresses: [],
      folder: '/',
      dashboard: '',
      origin: '',
    },
    now: 0,
    paused: false,
    synchronised: true,
    pending: 0,
    conflicts: 0,
    conflictCopies: 0,
    problems: [],
    problemCount: 0,
    files: 0,
    directories: 0,
    bytes: 0,
    freeBytes: 0,
    load: 0,
    operations: 0,
    version: {},
    digest: '',
    lastEvent: 0,
    members,
    ...more,
  };
}
