import type { LoggedOperation } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatItems, formatNames } from '@lockstep/shared/present';
import {
  type Icon,
  IconAdjustments,
  IconArrowsSplit,
  IconChevronDown,
  IconChevronRight,
  IconEdit,
  IconFilePlus,
  IconForms,
  IconTrash,
  IconUsers,
} from '@tabler/icons-react';
import { memo } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { type Act, actOf, acts } from '../../parts/operations/operation-filter.ts';
import {
  actOfItem,
  conflictOf,
  type OperationItem,
  pathOfItem,
  type SettledConflict,
  writersOf,
} from '../../parts/operations/operation-item.ts';
import classes from './feed-list.module.css';
import type { FeedRow } from './feed-rows.ts';

const icons: Record<Act, Icon> = {
  added: IconFilePlus,
  changed: IconEdit,
  renamed: IconForms,
  deleted: IconTrash,
  attributes: IconAdjustments,
  conflict: IconArrowsSplit,
  member: IconUsers,
};

interface LineProps {
  readonly row: FeedRow;
  readonly chosen: string | undefined;
  readonly choose: (operation: string) => void;
  readonly toggle: (row: number) => void;
}

/** One line of the feed: an operation, or a group that can be opened. */
export function FeedLine({ row, chosen, choose, toggle }: LineProps) {
  if (row.type === 'member') {
    return (
      <OperationLine operation={row.operation} isChosen={isChosen(row.operation, chosen)} choose={choose} isInside />
    );
  }
  const [only] = row.item.operations;
  if (only !== undefined && row.item.operations.length === 1) {
    return <OperationLine operation={only} isChosen={isChosen(only, chosen)} choose={choose} />;
  }
  return <GroupLine item={row.item} isOpen={row.shown !== undefined} toggle={toggle} />;
}

const nameOf = ({ origin, seq }: LoggedOperation): string => `${origin}:${seq}`;

function isChosen(operation: LoggedOperation, chosen: string | undefined): boolean {
  return chosen !== undefined && chosen === nameOf(operation);
}

/** The line of one operation. An operation never changes, so its line renders only once. */
const OperationLine = memo(function OperationLine({
  operation,
  isChosen,
  choose,
  isInside = false,
}: {
  readonly operation: LoggedOperation;
  readonly isChosen: boolean;
  readonly choose: LineProps['choose'];
  readonly isInside?: boolean;
}) {
  const { path, from, at, size, kind } = operation;
  return (
    <button
      type="button"
      className={classes.line}
      data-inside={isInside || undefined}
      aria-current={isChosen ? 'true' : undefined}
      onClick={() => choose(nameOf(operation))}
    >
      <What act={actOf(operation)} />
      <Path path={kind === 'mkdir' ? `${path}/` : path} former={from} />
      <span className={classes.who}>{authorOf(operation).memberName}</span>
      <span className={classes.when}>
        <Moment at={at} />
      </span>
      <span className={classes.size}>{size === undefined ? '' : formatBytes(size)}</span>
    </button>
  );
});

function GroupLine({
  item,
  isOpen,
  toggle,
}: Pick<LineProps, 'toggle'> & { readonly item: OperationItem; readonly isOpen: boolean }) {
  const last = item.operations.at(-1);
  const conflict = conflictOf(item);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <button type="button" className={classes.line} aria-expanded={isOpen} onClick={() => toggle(item.row)}>
      <What act={actOfItem(item)} />
      <span className={classes.path}>
        <Chevron className={classes.chevron} size={16} aria-hidden="true" />
        {conflict === undefined ? (
          <>
            <span className={classes.count}>{formatItems(item.operations.length, 'operation')}</span>
            <Path path={pathOfItem(item)} former={item.formerPlace} />
          </>
        ) : (
          <>
            <Path path={conflict.path} />
            <span className={classes.sides}>{sidesText(conflict)}</span>
          </>
        )}
      </span>
      <span className={classes.who}>
        {conflict === undefined ? last?.memberName : formatNames(writersOf(conflict))}
      </span>
      <span className={classes.when}>{last !== undefined && <Moment at={last.at} />}</span>
      <span className={classes.size}>{item.bytes === 0 ? '' : formatBytes(item.bytes)}</span>
    </button>
  );
}

/** `bee’s version kept, ant’s copied`. */
function sidesText({ kept, copied }: SettledConflict): string {
  const copies = copied.length === 0 ? [] : [`${formatNames(copied)}’s copied`];
  return [...(kept === undefined ? [] : [`${kept}’s version kept`]), ...copies].join(', ');
}

function What({ act }: { readonly act: Act }) {
  const ActIcon = icons[act];
  return (
    <span className={classes.what} data-act={act}>
      <ActIcon size={16} stroke={1.7} aria-hidden="true" />
      {acts[act]}
    </span>
  );
}

/** A path. If it is too long, its directories are cut off before its name. */
function Path({ path, former }: { readonly path: string; readonly former?: string | undefined }) {
  const cut = path.lastIndexOf('/', path.length - 2) + 1;
  return (
    <span className={classes.path} title={former === undefined ? path : `${former} → ${path}`}>
      {former !== undefined && <span className={classes.former}>{inOneLine(former)} →</span>}
      {cut > 0 && <span className={classes.directory}>{inOneLine(path.slice(0, cut))}</span>}
      <span className={classes.name}>{path === '/' ? 'the whole folder' : inOneLine(path.slice(cut))}</span>
    </span>
  );
}

/** The path with spaces for line breaks: a name may contain them, and they would overlap the next line of the feed. */
function inOneLine(path: string): string {
  return path.replaceAll(/[\n\r]/g, ' ');
}
