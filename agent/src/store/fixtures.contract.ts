import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ContentId,
  type Dot,
  type MemberId,
  type MemberRecord,
  memberPath,
  type Operation,
  type OriginId,
  originId,
  type Version,
} from '@lockstep/shared';
import { onTestFinished } from 'vitest';
import type { Fingerprint } from '../core/entry.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { type FileJournal, openJournal } from './journal.ts';

export const [antMember, beeMember] = ['a', 'b'].map((letter) => letter.repeat(52)) as [MemberId, MemberId];
export const [ant, bee, cat] = ['a', 'b', 'c'].map((letter) => originId(letter.repeat(52) as MemberId, 'aaaaaaaa')) as [
  OriginId,
  OriginId,
  OriginId,
];

/** The time at which every test journal receives its operations. */
export const journaledAt = 1_790_000_000_000;

/** Opens ant's journal; draws the origin `ant`. */
export function openAnt(path: string): FileJournal {
  return openJournal({ path, memberId: antMember, random: () => 0, nowMs: () => journaledAt });
}

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A content id for each `n`. */
export function content(n: number): ContentId {
  return `b3:${n.toString(16).padStart(64, '0')}` as ContentId;
}

/** The fields of any operation. Later numbers have later stamps; without `version` there are no parents. */
function base(by: OriginId, seq: number, path: string, version: Version | undefined) {
  return { origin: by, seq, hlc: (journaledAt + seq) * 1024, path, version: version ?? { vector: { [by]: seq } } };
}

export function put(by: OriginId, seq: number, path: string, fields: Partial<Operation> = {}): Operation {
  const file = { content: content(seq), size: 10 * seq, mode: 0o644, mtimeUs: journaledAt * 1000 + seq };
  return { ...base(by, seq, path, fields.version), kind: 'put', ...file, ...fields };
}

export function mkdir(by: OriginId, seq: number, path: string, fields: Partial<Operation> = {}): Operation {
  return { ...base(by, seq, path, fields.version), kind: 'mkdir', mode: 0o755, ...fields };
}

export function remove(by: OriginId, seq: number, path: string, fields: Partial<Operation> = {}): Operation {
  return { ...base(by, seq, path, fields.version), kind: 'delete', ...fields };
}

export function memberOperation(by: OriginId, seq: number, member: MemberRecord): Operation {
  return { ...base(by, seq, memberPath(member.id), undefined), kind: 'member', member };
}

/** The version of the operation `dot` whose author knew `parents`. */
export function after(dot: Dot, ...parents: readonly Dot[]): Version {
  const vector: Record<OriginId, number> = {};
  for (const { origin, seq } of [...parents, dot]) vector[origin] = Math.max(vector[origin] ?? 0, seq);
  return { vector };
}

export function dot(origin: OriginId, seq: number): Dot {
  return { origin, seq };
}

/** The fingerprint of a file; the inode number makes it unique. */
export function fingerprint(ino: number, mode = 0o100644): Fingerprint {
  return { ino, size: 10, mtimeMs: journaledAt + 0.123_4, ctimeMs: journaledAt + 0.567_8, mode };
}

/** Records that the disk shows these operations. */
export function show(journal: Journal, ...operations: readonly Operation[]): void {
  journal.disk.record(
    operations.map((operation) => ({
      path: operation.path,
      entry: {
        dot: dot(operation.origin, operation.seq),
        content: operation.content,
        fingerprint: operation.kind === 'delete' ? undefined : fingerprint(operation.seq),
      },
    })),
  );
}

export function pathsOf(rows: readonly { readonly path: string }[]): readonly string[] {
  return rows.map(({ path }) => path);
}
