import type { DeletedPage, TreeEntry } from '@lockstep/shared/api';
import { formatCount } from '@lockstep/shared/present';
import { Text } from '@mantine/core';
import { useRef } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { FileTable } from './file-table.tsx';
import classes from './files.module.css';
import { pageEntriesMax } from './listing.ts';

/** The entries that were deleted directly in a directory: each name leads to its versions, from which it can be put back. */
export function Deleted({
  directory,
  ...props
}: {
  readonly directory: string;
  readonly chosen: string;
  readonly isCompact: boolean;
  readonly linkOf: (entry: TreeEntry) => string;
  readonly up: () => void;
}) {
  const { operations } = useStatus();
  // Only the list above takes the focus of a directory that was left.
  const focusOn = useRef<string>(undefined);
  const query = new URLSearchParams({ path: directory, limit: String(pageEntriesMax) });
  const { data, error, again } = useApi<DeletedPage>(`/deleted?${query}`, operations);
  if (data === undefined) return error === undefined ? <Loading rows={2} /> : <Failed error={error} again={again} />;
  if (data.entries.length === 0) {
    return (
      <Text c="dimmed" size="sm" mt="xs" role="status">
        Nothing that is known was deleted here.
      </Text>
    );
  }
  return (
    <div className={classes.deleted}>
      <FileTable
        label={`Deleted in ${directory === '' ? 'the folder' : directory}`}
        entries={data.entries}
        rows={data.entries.length}
        isDeleted
        focusOn={focusOn}
        {...props}
      />
      <Text c="dimmed" size="sm" mt={6} role="status" className={classes.foot}>
        {data.next === null
          ? `${formatCount(data.entries.length)} deleted here`
          : `The first ${formatCount(data.entries.length)} by name of those that were deleted here`}
      </Text>
    </div>
  );
}
