import type { LoggedOperation, PathReport, PathVersion, RestoreResult, VersionsPage } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatItems, formatNames, shownBytesMax } from '@lockstep/shared/present';
import { Alert, Anchor, Button, Group, Text, Title } from '@mantine/core';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { askApi, sentenceOf, useApi } from '../../live/use-api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { contentUrl, downloadUrl } from '../../parts/content-url.ts';
import { encodePath, pathLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import { deedOf, nameOf, placesOf, shownVersions, typeOf } from './listing.ts';
import classes from './versions.module.css';

/** A large content may have to come from another member over a slow line. */
const restoreTimeoutMs = 3_600_000;

/** The result of the last attempt to put a version back. */
type Outcome = { readonly isDone: boolean; readonly sentence: string } | undefined;

/** The versions of a path, newest first: who has each, and the ways to look at it, to save it and to put it back. */
export function Versions({ report }: { readonly report: PathReport }) {
  const { path, heads, log } = report;
  const { member } = useStatus();
  // The members that have an old content are asked after changes of the path and of its holders, not at each change elsewhere.
  const trigger = [log[0]?.row, report.disk?.seq, ...report.holders.map(({ holds }) => holds)].join(' ');
  const { data } = useApi<VersionsPage>(`/versions/${encodePath(path)}`, trigger);
  const [chosen, setChosen] = useState<PathVersion>();
  const list = useRef<HTMLElement>(null);
  const [head] = heads;
  const isDeleted = head !== undefined && typeOf(head) === 'absent';
  const name = nameOf(path);
  const { isRunning, outcome, restore } = useRestore(path, isDeleted);

  const answer = (isYes: boolean): void => {
    const version = chosen;
    setChosen(undefined);
    // The list is read again afterwards: the button that opened the dialog may be gone.
    list.current?.focus();
    if (isYes && version !== undefined) void restore(version);
  };

  const versions = shownVersions(report, data);
  const canRestore = !isRunning && report.disk?.type !== 'directory';
  // Of a deleted directory all that was deleted with it comes back, whichever of its versions is meant.
  const last = versions.find((each) => typeOf(each) !== 'absent');
  return (
    <section aria-labelledby="versions" ref={list} tabIndex={-1} className={classes.section}>
      <Title order={3} size="h5" id="versions">
        Versions
      </Title>
      {outcome !== undefined && (
        <Alert
          role={outcome.isDone ? 'status' : 'alert'}
          color={outcome.isDone ? 'teal' : 'red'}
          variant="outline"
          p="xs"
          mt="xs"
        >
          {outcome.sentence}
        </Alert>
      )}
      <ol className={classes.versions}>
        {versions.map((version) => (
          <li key={version.row}>
            <Deed version={version} path={path} />
            {'version' in version && (
              <>
                <Text size="sm" c="dimmed">
                  {placesOf(version, member.name)}
                </Text>
                <Actions
                  version={version}
                  restore={
                    canRestore && isPutBack(version) && (version.type !== 'directory' || version === last)
                      ? () => setChosen(version)
                      : undefined
                  }
                />
              </>
            )}
          </li>
        ))}
      </ol>
      {data?.more && (
        <Text size="sm" c="dimmed">
          Older versions: lockstep history {name}
        </Text>
      )}
      {data !== undefined && data.silent.length > 0 && (
        <Text size="sm" c="dimmed">
          {formatNames(data.silent)} could not be asked.
        </Text>
      )}
      <ConfirmDialog title={`Put ${name} back?`} isOpen={chosen !== undefined} confirm="Put it back" answer={answer}>
        {chosen !== undefined && <Consequences version={chosen} path={path} isDeleted={isDeleted} />}
      </ConfirmDialog>
    </section>
  );
}

/** Puts versions of a path back, one at a time. `outcome` is that of the last one. */
function useRestore(
  path: string,
  isDeleted: boolean,
): {
  readonly isRunning: boolean;
  readonly outcome: Outcome;
  readonly restore: (version: PathVersion) => Promise<void>;
} {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const restore = async (version: PathVersion): Promise<void> => {
    setRunning(true);
    setOutcome(undefined);
    try {
      const isWhole = isDeleted && version.type === 'directory';
      const body = isWhole ? { path } : { path, version: version.version };
      const result = await askApi<RestoreResult>('/restore', { method: 'POST', body, timeoutMs: restoreTimeoutMs });
      setOutcome({
        isDone: (result.below?.refusedCount ?? 0) === 0,
        sentence: sentenceOfResult(nameOf(path), result),
      });
    } catch (error) {
      setOutcome({ isDone: false, sentence: sentenceOf(error) });
    }
    setRunning(false);
  };
  return { isRunning, outcome, restore };
}

/** True if the version can be made the current one. */
function isPutBack({ isCurrent, restorable }: PathVersion): boolean {
  return !isCurrent && restorable;
}

/** The effect of a version, its author and its time. */
function Deed({ version, path }: { readonly version: LoggedOperation; readonly path: string }) {
  return (
    <div className={classes.deed}>
      <span>
        {deedOf(version)} by <b>{authorOf(version).memberName}</b>
        {version.from !== undefined && (
          <>
            {' from '}
            <Anchor component={Link} href={pathLink(version.from)}>
              {version.from}
            </Anchor>
          </>
        )}
        {version.path !== path && ` as ${version.path}`}
      </span>
      <span className={classes.aside}>
        {version.size !== undefined && `${formatBytes(version.size)}, `}
        <Moment at={version.at} />
      </span>
    </div>
  );
}

function Actions({ version, restore }: { readonly version: PathVersion; readonly restore: (() => void) | undefined }) {
  const { path, size = 0, type, restorable, isCurrent, memberName, at } = version;
  const hasContent = type === 'file' && restorable && !isCurrent;
  if (!hasContent && restore === undefined) return null;
  // The buttons of all versions have the same words: these tell them apart for those who do not see the list.
  const which = `the version by ${memberName} of ${new Date(at).toLocaleString()}`;
  const props = { variant: 'default', size: 'compact-xs' } as const;
  return (
    <Group gap="xs" mt={4}>
      {hasContent && size <= shownBytesMax(path) && (
        <Button
          component="a"
          href={contentUrl(version)}
          target="_blank"
          rel="noopener"
          aria-label={`Open ${which}`}
          {...props}
        >
          Open
        </Button>
      )}
      {hasContent && (
        <Button component="a" href={downloadUrl(version)} download aria-label={`Download ${which}`} {...props}>
          Download
        </Button>
      )}
      {restore !== undefined && (
        <Button onClick={restore} aria-label={`Put back ${which}`} {...props}>
          Put back
        </Button>
      )}
    </Group>
  );
}

function Consequences({
  version,
  path,
  isDeleted,
}: {
  readonly version: PathVersion;
  readonly path: string;
  readonly isDeleted: boolean;
}) {
  const { member, members } = useStatus();
  const name = nameOf(path);
  const size = version.size === undefined ? '' : ` (${formatBytes(version.size)})`;
  const isDirectory = version.type === 'directory';
  return (
    <>
      <Text>
        {isDirectory ? (
          <>{name} is made again, with everything that was deleted together with it, each entry as it last was.</>
        ) : (
          <>
            {name} {isDeleted ? 'is made again' : 'becomes again'} as <b>{authorOf(version).memberName}</b> wrote it{' '}
            <Moment at={version.at} />
            {size}.
          </>
        )}
      </Text>
      <Text>
        It is an ordinary change in the folder of {member.name}
        {members.length > 1 && ', and all members get it'}.
        {!isDeleted && ' The current version stays in this list, and can be put back in the same way.'}
      </Text>
    </>
  );
}

function sentenceOfResult(name: string, { changed, below }: RestoreResult): string {
  if (below !== undefined) {
    const [first] = below.refused;
    const entries = `${formatItems(below.entries, 'deleted entry', 'deleted entries')} put back.`;
    const done = below.more ? `${entries} There are more: put it back again.` : entries;
    if (first === undefined) return done;
    const others = below.refusedCount > 1 ? ` (and ${formatItems(below.refusedCount - 1, 'other', 'others')})` : '';
    return `${done} Not ${first.path}${others}: ${first.reason}`;
  }
  return changed ? `${name} was put back.` : `${name} has this version already.`;
}
