import type { Status, TreeEntry } from '@lockstep/shared/api';
import { formatNames } from '@lockstep/shared/present';
import { useStatus } from '../../live/status-context.ts';
import classes from './holder-marks.module.css';
import { initialsOf } from './listing.ts';

/** With more members than this, a bar replaces the marks. */
const marksMax = 6;

/** The holders of an entry: a mark for each member, filled if it holds the entry, and the count. `isShort`: the count alone. */
export function HolderMarks({ entry, isShort }: { readonly entry: TreeEntry; readonly isShort: boolean }) {
  const members = useStatus().members.filter(({ state }) => state !== 'left');
  const missing = new Set(entry.missing);
  const total = entry.holding + missing.size;
  return (
    <span className={classes.holders} title={missingSentence(members, missing)} data-whole={missing.size === 0}>
      {!isShort && members.length > marksMax && (
        <progress className={classes.bar} value={entry.holding} max={total} aria-hidden="true" />
      )}
      {!isShort && members.length <= marksMax && (
        <span className={classes.marks} aria-hidden="true">
          {members.map(({ id, name }) => (
            <span key={id} className={classes.mark} data-missing={missing.has(id) || undefined}>
              {initialsOf(name)}
            </span>
          ))}
        </span>
      )}
      <span className={classes.count}>
        {entry.holding} of {total}
      </span>
    </span>
  );
}

function missingSentence(members: Status['members'], missing: ReadonlySet<string>): string {
  if (missing.size === 0) return 'All members hold it';
  const names = members.filter(({ id }) => missing.has(id)).map(({ name }) => name);
  return `Not yet on ${formatNames(names)}`;
}
