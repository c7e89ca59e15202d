import { JOURNAL_VERSION } from '@lockstep/shared';

/** `PRAGMA application_id` of a journal: "LKST". */
export const applicationId = 0x4c4b5354;

/**
 * The condition of the index of conflict copies: live files and links whose name, after the last slash, resembles a copy's. A query must
 * contain exactly this text for the index to be used. Journals hold it, so it never changes.
 */
export const copyCondition = `rank = 0 AND type IN (1, 3) AND instr(path, '.conflict-') > 0
    AND substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) GLOB '*.conflict-${'[0-9]'.repeat(8)}T${'[0-9]'.repeat(9)}*Z-*'`;

/**
 * The totals of the rows of `disk`. A damaged file counts, as it is there; the mode tells a file from a directory. Migrations hold it, so
 * it never changes.
 */
export const diskTotals = `coalesce(sum(mode & 61440 = 32768), 0) AS disk_files,
    coalesce(sum(mode & 61440 = 16384), 0) AS disk_directories,
    coalesce(sum(size) FILTER (WHERE mode & 61440 = 32768), 0) AS disk_bytes`;

/**
 * Entry n migrates a journal from schema version n to n + 1. Append only: a journal may have any of these versions.
 *
 * All tables but `ops`, `blocks`, `origins`, `disk`, `acks`, `events`, `settings` and `uses` are derived from these.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- Origins are 61 characters long and occur in every row: here once, as a small number elsewhere.
  CREATE TABLE origins (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  -- The operation log, append-only. \`row\` counts in order of arrival, from 1, without gaps. \`version\` is NULL if the
  -- operation includes only what its own origin numbered before it.
  CREATE TABLE ops (
    row INTEGER PRIMARY KEY,
    origin INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hlc INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    path TEXT NOT NULL,
    version TEXT,
    content TEXT,
    replaced TEXT,
    size INTEGER,
    mode INTEGER,
    mtime_us INTEGER,
    target TEXT,
    renamed_from TEXT,
    group_seq INTEGER,
    span INTEGER,
    member TEXT,
    journaled_at INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX ops_dot ON ops (origin, seq);
  CREATE INDEX ops_path ON ops (path);

  CREATE TABLE blocks (content TEXT PRIMARY KEY, hashes BLOB NOT NULL);

  -- One row for each head. Rank 0 is the visible one. \`state\` is NULL for a head that needs no action; 1: live, and
  -- the disk does not show it; 2: a delete, and the disk still has the entry; 3: a live sibling that lost. \`orphan\` is 1 for a
  -- live visible head whose parent is not a live directory, else NULL.
  CREATE TABLE heads (
    op INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    rank INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type INTEGER NOT NULL,
    size INTEGER NOT NULL,
    content_key INTEGER,
    state INTEGER,
    orphan INTEGER
  );
  CREATE UNIQUE INDEX heads_path ON heads (path, rank);
  CREATE INDEX heads_content ON heads (content_key) WHERE content_key IS NOT NULL;
  CREATE INDEX heads_contested ON heads (path) WHERE rank = 1;
  CREATE INDEX heads_pending ON heads (state, path) WHERE state IS NOT NULL;
  CREATE INDEX heads_outstanding ON heads (origin, seq) WHERE state IS NOT NULL;
  CREATE INDEX heads_orphan ON heads (path) WHERE orphan IS NOT NULL;

  -- How many live visible heads lie directly in each directory that has any ('' is the folder).
  CREATE TABLE parents (path TEXT PRIMARY KEY, live INTEGER NOT NULL) WITHOUT ROWID;

  -- One row: the digest of all heads and the counts, kept up to date with every change of a head.
  CREATE TABLE totals (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    digest_hi INTEGER NOT NULL,
    digest_lo INTEGER NOT NULL,
    files INTEGER NOT NULL,
    directories INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    contested INTEGER NOT NULL
  );
  INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0, 0, 0);

  -- What this member's disk shows. \`ino\` is NULL where the path is absent.
  CREATE TABLE disk (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    origin INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    content TEXT,
    content_key INTEGER,
    ino INTEGER,
    size INTEGER,
    mtime_ms REAL,
    ctime_ms REAL,
    mode INTEGER,
    racy INTEGER
  );
  CREATE INDEX disk_content ON disk (content_key) WHERE content_key IS NOT NULL;
  CREATE INDEX disk_ino ON disk (ino) WHERE ino IS NOT NULL;

  CREATE TABLE acks (member TEXT PRIMARY KEY, applied TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE events (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL);
  `,
  `CREATE INDEX heads_copies ON heads (path) WHERE ${copyCondition};`,
  `
  -- Marks of a row, NULL in nearly all. \`unsynced\`: a user's change that a power cut may undo. \`damaged\`: the entry is not what the
  -- operation says, so the path is pending.
  ALTER TABLE disk ADD COLUMN unsynced INTEGER;
  ALTER TABLE disk ADD COLUMN damaged INTEGER;
  CREATE INDEX disk_unsynced ON disk (origin, seq) WHERE unsynced IS NOT NULL;
  `,
  // NULL if the file system keeps no birth times, and in earlier rows.
  'ALTER TABLE disk ADD COLUMN birth_ms REAL;',
  `
  -- The running hash of the origin's log up to and including this operation. Existing rows get theirs when the journal is opened.
  ALTER TABLE ops ADD COLUMN chain BLOB;
  -- 48 bits of it, for the digest.
  ALTER TABLE heads ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
  -- Not NULL for a branch: the number of the origin from which its operations were cut off.
  ALTER TABLE origins ADD COLUMN branch_of INTEGER;
  -- Origins that end: no operation with a number above \`last\` is accepted.
  CREATE TABLE seals (origin TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- NULL in nearly all rows. Above 0 as in \`unsynced\`, of a file that may change without a trace; 0 after a sync has ended that, and the
  -- file is to be read once more.
  ALTER TABLE disk ADD COLUMN unconfirmed INTEGER;
  CREATE INDEX disk_unconfirmed ON disk (unconfirmed, path) WHERE unconfirmed IS NOT NULL;
  `,
  // 1 where a power cut left the damage, else NULL.
  'ALTER TABLE disk ADD COLUMN cut INTEGER;',
  // NULL in nearly all: the operations whose content this one leaves in place, as pairs of origin and number.
  'ALTER TABLE ops ADD COLUMN keeps TEXT;',
  `
  -- Bytes of the visible files whose content is not at its path, and what is in place on the disk.
  ALTER TABLE totals ADD COLUMN missing_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE totals ADD COLUMN disk_files INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE totals ADD COLUMN disk_directories INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE totals ADD COLUMN disk_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE totals SET (disk_files, disk_directories, disk_bytes) = (SELECT ${diskTotals} FROM disk);
  UPDATE totals SET missing_bytes = (
    SELECT coalesce(sum(heads.size), 0) FROM heads INDEXED BY heads_pending LEFT JOIN disk ON disk.path = heads.path
    WHERE heads.state = 1 AND heads.type = 1 AND (disk.content_key IS NULL OR disk.content_key <> heads.content_key)
  );
  `,
  `
  -- The marks of the numbers of other origins that the version names, in the order of their ids, 8 bytes each.
  ALTER TABLE ops ADD COLUMN marks BLOB;
  -- Such a mark of a number that is not known here, or that has another mark here; by which operation. Empty nearly always.
  CREATE TABLE named (
    origin TEXT NOT NULL,
    seq INTEGER NOT NULL,
    mark TEXT NOT NULL,
    by_origin TEXT NOT NULL,
    by_seq INTEGER NOT NULL,
    PRIMARY KEY (origin, seq, by_origin, by_seq)
  ) WITHOUT ROWID;
  `,
  `
  -- 1 for a live file that is not on this disk, because its content is fetched on demand; else NULL.
  ALTER TABLE disk ADD COLUMN remote INTEGER;
  CREATE INDEX disk_remote ON disk (path) WHERE remote IS NOT NULL;
  `,
  `
  -- The files that were used last on a member that fetches contents on demand, in the order of \`number\`. \`credit\`: what the file is worth to
  -- the cache; \`inflation\`: the highest credit at which a file was dropped until then.
  CREATE TABLE uses (path TEXT PRIMARY KEY, number INTEGER NOT NULL, credit REAL NOT NULL, inflation REAL NOT NULL) WITHOUT ROWID;
  `,
  `
  -- Files that were deleted while they were on other members only: their rows name the delete, as those of any other path that is absent.
  UPDATE disk SET remote = NULL, (origin, seq) = (SELECT heads.origin, heads.seq FROM heads WHERE heads.path = disk.path AND heads.rank = 0)
  WHERE remote IS NOT NULL
    AND EXISTS (SELECT 1 FROM heads WHERE heads.path = disk.path AND heads.rank = 0 AND heads.type = 0);
  `,
  `
  UPDATE ops SET member = json_remove(json_set(member, '$.membership', member ->> '$.standing'), '$.standing')
  WHERE member ->> '$.standing' IS NOT NULL;
  `,
];

/** The statements that bring a journal of schema `version` to the one this software writes. */
export function migrationsFrom(version: number): readonly string[] {
  return migrations.slice(version, JOURNAL_VERSION);
}
