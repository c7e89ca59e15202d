import type { PathReport, SearchResult, Status, TreeEntry } from '@lockstep/shared/api';
import { folderText, formatBytes, formatCount, formatItems } from '@lockstep/shared/present';
import { Group, NativeSelect, Switch, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { navigate, usePathname, useSearch } from 'wouter/use-browser-location';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { useRepeat } from '../../live/use-repeat.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { encodePath, pathLink, pathOfLink } from '../../parts/links.ts';
import { Empty, Failed, Loading } from '../../parts/notice.tsx';
import { UploadsPanel } from '../../parts/uploads/uploads-panel.tsx';
import { type Action, useAction } from '../../parts/use-action.ts';
import { View } from '../../parts/view.tsx';
import { Deleted } from './deleted.tsx';
import { DirectoryActions } from './directory-actions.tsx';
import { DropTarget } from './drop-target.tsx';
import { FileTable } from './file-table.tsx';
import classes from './files.module.css';
import { isOrWasDirectory, parentOf, rowsOf, shownEntries, treeTrigger, typeOf } from './listing.ts';
import { type ListedAs, listedAs, type Order, orders, sortedEntriesMax, withListing } from './order.ts';
import { PathPanel } from './path-panel.tsx';
import { SearchBox } from './search-box.tsx';
import { Trail } from './trail.tsx';
import { useDirectory } from './use-directory.ts';

/** A longer list of results is not useful; a longer search text is. */
const resultsMax = 200;

/** The replicated tree: a directory or the results of a search, with the details of the path in the address. */
export function Files() {
  const status = useStatus();
  const path = pathOfLink(usePathname());
  const query = new URLSearchParams(useSearch()).get('q') ?? '';
  const isNarrow = useIsBelow(992);
  // Next to the panel of a chosen path, all columns need this width.
  const isCompact = useIsBelow(1_280) && path !== '';
  const focusOn = useRef<string>(undefined);
  const search = (text: string): void => navigate(pathLink(path ?? '', text), { replace: query !== '' && text !== '' });
  return (
    <View
      title="Files"
      aside={`${folderText(status)} in ${status.member.folder}${historyOf(status)}`}
      actions={<SearchBox value={query} onSearch={search} />}
    >
      {path === undefined ? (
        <Empty title="This address is damaged">A part of it may be missing or changed.</Empty>
      ) : (
        <Place path={path} query={query} isNarrow={isNarrow} isCompact={isNarrow || isCompact} focusOn={focusOn} />
      )}
    </View>
  );
}

/** The old versions that are kept on the disk of the member that serves the page. */
function historyOf({ history }: Status): string {
  if (history === undefined || history.versions === 0) return '';
  return `; ${formatItems(history.versions, 'old version')}, ${formatBytes(history.bytes)}`;
}

function useIsBelow(widthPx: number): boolean {
  const isBelow = useMediaQuery(`(max-width: ${widthPx / 16 - 0.01}em)`, window.innerWidth < widthPx, {
    getInitialValueInEffect: false,
  });
  return isBelow === true;
}

interface PlaceProps {
  readonly path: string;
  readonly query: string;
  /** There is no room for the panel next to the list. */
  readonly isNarrow: boolean;
  /** There is no room for all columns of the list. */
  readonly isCompact: boolean;
  readonly focusOn: RefObject<string | undefined>;
}

function Place({ path, query, isNarrow, isCompact, focusOn }: PlaceProps) {
  const trigger = treeTrigger(useStatus());
  const listed = listedAs(new URLSearchParams(useSearch()));
  const {
    data: report,
    error,
    again,
  } = useApi<PathReport>(path === '' ? undefined : `/paths/${encodePath(path)}`, trigger);
  // A member that is up and did not answer in time may do so in a moment.
  useRepeat(
    report?.holders.some(({ unknown, condition }) => unknown === true && condition === 'active') ?? false,
    again,
  );
  const directory = useDirectoryOf(path, report, listed.deleted);
  const isDirectory = directory === path;
  // On a narrow screen only the panel is shown for a file.
  const withList = !isNarrow || isDirectory;
  const [head] = report?.heads ?? [];
  const isThere = head !== undefined && typeOf(head) !== 'absent';
  // Its result stays while the address changes, as after a renaming.
  const { state, run, forget } = useAction();
  const listProps = { chosen: path, isCompact, focusOn };
  return (
    <>
      <Trail path={path} listed={listed} />
      <UploadsPanel />
      {error !== undefined && report === undefined && <Failed error={error} again={again} />}
      <div className={classes.place} data-panel={path !== '' || undefined}>
        {withList &&
          (query !== '' ? (
            <Results query={query} {...listProps} />
          ) : (
            directory !== undefined && (
              <Directory directory={directory} isThere={isThere} listed={listed} run={run} {...listProps} />
            )
          ))}
        {path !== '' &&
          (report === undefined ? (
            error === undefined && <Loading rows={4} />
          ) : report.known ? (
            <PathPanel report={report} run={run} />
          ) : (
            <Empty
              title={report.changing ? 'Nothing is known about this path yet' : 'Nothing is known about this path'}
            >
              {report.changing
                ? 'It is new on this disk, or was changed, and is read once it is at rest.'
                : 'No member has reported anything there. It may not have arrived here yet; this page shows it as soon as it does.'}
            </Empty>
          ))}
      </div>
      <ActionResult state={state} forget={forget} />
    </>
  );
}

/**
 * The directory to list for `path`: `path` itself or its parent. Until the agent has answered which, the listed directory stays if it is
 * one of the two, so that choosing a file moves nothing.
 */
function useDirectoryOf(path: string, report: PathReport | undefined, withDeleted: boolean): string | undefined {
  const listed = useRef<string>(undefined);
  if (path === '') listed.current = '';
  else if (report !== undefined) {
    listed.current = isOrWasDirectory(report, withDeleted) ? path : parentOf(path);
  } else if (listed.current !== path && listed.current !== parentOf(path)) listed.current = undefined;
  return listed.current;
}

/** The reason why a list is empty. The parent directory of an unknown path may itself be unknown. */
function reasonOf(directory: string, { isKnown, withDeleted }: { isKnown: boolean; withDeleted: boolean }): string {
  if (withDeleted) return 'Below is what was deleted.';
  if (directory === '') return 'Files in the folder of any member appear here.';
  return isKnown ? 'An empty folder.' : 'An empty folder, or there is no folder of this name.';
}

interface ListProps {
  readonly chosen: string;
  readonly isCompact: boolean;
  readonly focusOn: RefObject<string | undefined>;
}

interface DirectoryProps extends ListProps {
  readonly directory: string;
  /** Whether the chosen path has an entry, which the list then shows. */
  readonly isThere: boolean;
  readonly listed: ListedAs;
  readonly run: Action['run'];
}

function Directory({ directory, isThere, listed, run, focusOn, ...props }: DirectoryProps) {
  const { listing, error, want, again } = useDirectory(
    directory,
    treeTrigger(useStatus()),
    isThere && props.chosen !== directory ? props.chosen : undefined,
  );
  const isSortable = (listing?.total ?? 0) <= sortedEntriesMax;
  const order = isSortable ? listed.order : 'name';
  const last = order === 'name' ? 0 : (listing?.total ?? 0) - 1;
  useEffect(() => want(last), [want, last]);
  const entries = useMemo(() => (listing === undefined ? [] : shownEntries(listing, order)), [listing, order]);
  if (listing === undefined) return error === undefined ? <Loading /> : <Failed error={error} again={again} />;
  const up = (): void => {
    if (directory === '') return;
    focusOn.current = directory;
    navigate(withListing(pathLink(parentOf(directory)), listed));
  };
  const list = (as: Partial<ListedAs>): void => {
    navigate(withListing(pathLink(props.chosen), { ...listed, ...as }), { replace: true });
  };
  const sortBy = (by: Order): void => list({ order: by });
  const linkOf = (entry: TreeEntry): string => withListing(pathLink(entry.path), listed);
  // An upload into a deleted directory would make it again.
  const isHere = directory === '' || isThere || listing.total > 0;
  const content = (
    <div className={listed.deleted ? classes.both : undefined}>
      <Group justify="space-between" mb="xs" gap="xs">
        {isHere && <DirectoryActions directory={directory} run={run} isCompact={props.isCompact} />}
        {props.isCompact && isSortable && entries.length > 0 && (
          <NativeSelect
            w="fit-content"
            aria-label="Order"
            value={order}
            onChange={({ currentTarget }) => sortBy(currentTarget.value as Order)}
            data={Object.entries(orders).map(([value, label]) => ({ value, label }))}
          />
        )}
        <Switch
          ml="auto"
          size="sm"
          label="Show deleted"
          checked={listed.deleted}
          onChange={({ currentTarget }) => list({ deleted: currentTarget.checked })}
        />
      </Group>
      {entries.length === 0 ? (
        <Empty title="Nothing is in here">
          {reasonOf(directory, { isKnown: isThere || props.chosen === directory, withDeleted: listed.deleted })}
        </Empty>
      ) : (
        <>
          <FileTable
            key={directory}
            label={directory === '' ? 'All files' : directory}
            entries={entries}
            rows={rowsOf(listing)}
            want={want}
            linkOf={linkOf}
            sort={isSortable ? { order, by: sortBy } : undefined}
            up={up}
            focusOn={focusOn}
            {...props}
          />
          <Text c="dimmed" size="sm" mt={6} className={classes.foot}>
            {formatItems(listing.total, 'entry', 'entries')}
            {error !== undefined && `. This may be out of date: ${error}`}
          </Text>
        </>
      )}
      {listed.deleted && <Deleted key={directory} directory={directory} linkOf={linkOf} up={up} {...props} />}
    </div>
  );
  return isHere ? <DropTarget directory={directory}>{content}</DropTarget> : content;
}

function Results({ query, ...props }: ListProps & { readonly query: string }) {
  const { operations } = useStatus();
  const parameters = new URLSearchParams({ name: query, limit: String(resultsMax) });
  const { data, error, again } = useApi<SearchResult>(`/search?${parameters}`, operations);
  if (data === undefined) return error === undefined ? <Loading /> : <Failed error={error} again={again} />;
  if (data.entries.length === 0) {
    return <Empty title={`No name contains “${query}”`}>The search ignores case.</Empty>;
  }
  return (
    <div>
      <FileTable
        label={`Names that contain ${query}`}
        entries={data.entries}
        rows={data.entries.length}
        withDirectory
        linkOf={({ path, type }) => pathLink(path, type === 'directory' ? '' : query)}
        up={() => navigate(pathLink(''))}
        {...props}
      />
      <Text c="dimmed" size="sm" mt={6} role="status" className={classes.foot}>
        {data.more
          ? `The first ${formatCount(data.entries.length)} are shown: type more of the name to find others.`
          : `${formatCount(data.entries.length)} found`}
      </Text>
    </div>
  );
}
