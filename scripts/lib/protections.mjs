// The protections that `npm run sim:without` takes out of the compiled agent.

/** Staged bytes are not synced. */
const stagedUnsynced = [
  ['this.#system.fsync(fd);', ''],
  ['if (this.#system.syncFileSystem(this.#places.state))', 'if (true)'],
];

/** The protections. The edits of each compiled file: a text that occurs once in it, and what takes its place. */
export const protections = [
  {
    name: 'staged-sync',
    what: 'staged bytes are synced',
    edits: { 'fs/apply/staging.js': stagedUnsynced },
  },
  {
    name: 'sync-first',
    what: 'staged bytes are synced before the rename, not after it',
    edits: {
      'fs/apply/staging.js': stagedUnsynced,
      'fs/apply/apply.js': [
        ['if (!touched.isEmpty)', 'places.system.syncFileSystem(places.state);\n    if (!touched.isEmpty)'],
      ],
    },
  },
  {
    name: 'name-sync',
    what: 'names are synced before a row says done',
    edits: { 'fs/apply/apply.js': [['of touched.sync())', 'of [])']] },
  },
  {
    name: 'look-again',
    what: 'a replaced version is checked again',
    edits: {
      'fs/apply/replaced-version.js': [
        [
          'if (this.#name === undefined)\n            return true;\n        return isVersion',
          'return true;\n        return isVersion',
        ],
      ],
    },
  },
  {
    name: 'same-inode',
    what: 'the name is still that of the held version',
    edits: { 'fs/apply/replaced-version.js': [[' || lstatIfThere(system, target)?.ino !== expected.ino', '']] },
  },
  {
    name: 'asked-first',
    what: 'others are asked before a file is dropped',
    edits: {
      'core/cache/enough-holders.js': [
        [
          'areEnoughHolders(others, { isOwn, copies }) {',
          'areEnoughHolders(others, { isOwn, copies }) {\n    return true;',
        ],
      ],
    },
  },
  {
    name: 'unsynced-rows',
    what: "rows of users' changes are unsynced",
    edits: {
      'store/disk.js': [['const unsynced = entry.unsynced || (fingerprint !== undefined', 'const unsynced = (false']],
    },
  },
  {
    name: 'batch-sync',
    what: 'batches are synced before they count as durable',
    edits: {
      'sync/durability/write-back.js': [['await folder.sync(paths)', "{ result: 'done', single: [], hidden: [] }"]],
    },
  },
  {
    name: 'cut-no-edit',
    what: 'what a power cut leaves is no edit',
    edits: { 'core/power-cut.js': [['const likeness =', "return { is: 'edited' };\n        const likeness ="]] },
  },
  {
    name: 'devices',
    what: 'devices are a part of what was seen',
    edits: {
      'fs/mounts/mount-check.js': [['changed(path, stats) {', 'changed(path, stats) {\n        return undefined;']],
      'fs/mounts/mounts.js': [
        ['return (path) => foreign.find(', 'return () => undefined;\n    (path) => foreign.find('],
      ],
    },
  },
  {
    name: 'incarnation',
    what: 'numbers go on only after a confirmation',
    edits: { 'sync/members/own-origin.js': [['if (!this.#hasOthers())', 'if (true)']] },
  },
  {
    name: 'compared-logs',
    what: 'only a compared log counts as held',
    edits: { 'sync/members/agreement.js': [['applied: this.#within(applied)', 'applied']] },
  },
  {
    name: 'damage',
    what: 'bytes that change under an unchanged fingerprint are no edit',
    edits: { 'sync/integrity/damage.js': [['if (known.unconfirmed)', 'if (true)']] },
  },
  {
    name: 'second-read',
    what: 'files are read again after stores that may have left no trace',
    edits: { 'core/confirmation.js': [["? 'dirty' : undefined", '? undefined : undefined']] },
  },
  {
    name: 'file-times',
    what: 'nothing is journaled that the others would not accept',
    edits: {
      'core/local-change.js': [['carriedTimeUs(seen.mtimeUs)', 'seen.mtimeUs']],
      'core/make-operations.js': [
        ['return carriedOperation(operation);', 'return operation;'],
        ['operation && operationFault(operation, sendingLimits)', 'undefined'],
      ],
      'store/operations/operation-row.js': [['return carriedOperation({', 'return ({']],
    },
  },
];
