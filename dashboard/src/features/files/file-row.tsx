import type { TreeEntry } from '@lockstep/shared/api';
import { formatBytes } from '@lockstep/shared/present';
import { Badge, Skeleton } from '@mantine/core';
import { IconFile, IconFileSymlink, IconFolderFilled } from '@tabler/icons-react';
import { type KeyboardEvent, memo } from 'react';
import { Link } from 'wouter';
import { Moment } from '../../parts/moment.tsx';
import classes from './file-table.module.css';
import { HolderMarks } from './holder-marks.tsx';
import { parentOf } from './listing.ts';

const icons = { file: IconFile, directory: IconFolderFilled, symlink: IconFileSymlink } as const;
const kinds = { file: 'File', directory: 'Folder', symlink: 'Link' } as const;

interface Props {
  /** Undefined until it is read. */
  readonly entry: TreeEntry | undefined;
  readonly row: number;
  readonly height: number;
  readonly isCompact: boolean;
  readonly isChosen: boolean;
  readonly withDirectory: boolean;
  readonly href: string;
  readonly tabIndex: number;
  readonly onKeyDown: (event: KeyboardEvent, row: number) => void;
  readonly onFocus: (row: number) => void;
}

/** One entry. Its link covers the whole row. */
export function FileRow(props: Props) {
  const { entry, row, height, isCompact, isChosen, withDirectory, href, tabIndex, onKeyDown, onFocus } = props;
  if (entry === undefined) {
    return (
      <tr aria-rowindex={row + 2} style={{ height }} aria-busy="true">
        <td colSpan={isCompact ? 2 : 5}>
          <Skeleton height={14} width="40%" />
        </td>
      </tr>
    );
  }
  const directory = parentOf(entry.path);
  return (
    <tr
      aria-rowindex={row + 2}
      style={{ height }}
      data-chosen={isChosen || undefined}
      data-directory={entry.type === 'directory' && !entry.deleted ? entry.path : undefined}
    >
      <th scope="row">
        <span className={classes.name}>
          <KindIcon type={entry.type} />
          <span className={classes.words}>
            <Link
              href={href}
              className={classes.link}
              data-row={row}
              tabIndex={tabIndex}
              aria-current={isChosen ? 'true' : undefined}
              onKeyDown={(event) => onKeyDown(event, row)}
              onFocus={() => onFocus(row)}
              title={entry.name}
            >
              {entry.name}
            </Link>
            {withDirectory && directory !== '' && <span className={classes.aside}>in {directory}</span>}
            {isCompact && !withDirectory && (
              <span className={classes.aside}>
                {entry.size === undefined ? '' : `${sizeOf(entry.size, entry.sizePartial)}, `}
                {entry.deleted && 'deleted by '}
                {entry.writerName}, <Moment at={entry.at} />
              </span>
            )}
          </span>
          {entry.conflict && (
            <Badge variant="outline" size="sm" px={6} className={classes.badge}>
              conflict
            </Badge>
          )}
        </span>
      </th>
      {!isCompact && (
        <>
          <td className={classes.size}>
            {entry.size === undefined ? <Dash /> : sizeOf(entry.size, entry.sizePartial)}
          </td>
          <td className={classes.writer} title={entry.writerName}>
            {entry.writerName}
          </td>
          <td className={classes.quiet}>
            <span className={classes.above}>
              <Moment at={entry.at} />
            </span>
          </td>
        </>
      )}
      {!entry.deleted && (
        <td>
          <span className={classes.above}>
            <HolderMarks entry={entry} isShort={isCompact} />
          </span>
        </td>
      )}
    </tr>
  );
}

const KindIcon = memo(function KindIcon({ type }: { readonly type: TreeEntry['type'] }) {
  const Icon = icons[type];
  return <Icon size={18} stroke={1.6} className={classes.icon} data-type={type} role="img" aria-label={kinds[type]} />;
});

/** A directory that is too large to be counted has at least the size of the part that was. */
function sizeOf(size: number, isPartial = false): string {
  return isPartial ? `over ${formatBytes(size)}` : formatBytes(size);
}

function Dash() {
  return (
    <span className={classes.quiet} aria-hidden="true">
      –
    </span>
  );
}
