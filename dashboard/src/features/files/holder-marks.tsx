import type { Status, TreeEntry } from '@lockstep/shared/api';
import { formatNames } from '@lockstep/shared/present';
import { useStatus } from '../../live/status-context.ts';
import classes from './holder-marks.module.css';
import { initialsOf } from './listing.ts';

/** With more members than this, a bar replaces the marks. */
const marksMax = 6;

/**
 * The holders of an entry: a mark for each member, filled if it holds the entry, and the count. Members on demand are not counted for a file:
 * its details say which of them have it. `isShort`: the count alone.
 */
export function HolderMarks({ entry, isShort }: { readonly entry: TreeEntry; readonly isShort: boolean }) {
  const members = useStatus().members.filter(({ state }) => state !== 'left');
  const missing = new Set(entry.missing);
  const total = entry.holding + missing.size;
  if (total === 0) return <span title="Its details say which members have it">on demand</span>;
  const isPart = total < members.length;
  const counted = isPart ? members.filter(({ onDemand }) => !onDemand) : members;
  return (
    <span className={classes.holders} title={holdersSentence(counted, missing, isPart)} data-whole={missing.size === 0}>
      {!isShort && counted.length > marksMax && (
        <progress className={classes.bar} value={entry.holding} max={total} aria-hidden="true" />
      )}
      {!isShort && counted.length <= marksMax && (
        <span className={classes.marks} aria-hidden="true">
          {counted.map(({ id, name }) => (
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

/** `isPart`: the members are those with the whole folder, and there are others. */
function holdersSentence(members: Status['members'], missing: ReadonlySet<string>, isPart: boolean): string {
  if (missing.size === 0) return isPart ? 'All members with the whole folder hold it' : 'All members hold it';
  const names = members.filter(({ id }) => missing.has(id)).map(({ name }) => name);
  return `Not yet on ${formatNames(names)}`;
}
