import type { PathReport } from '@lockstep/shared/api';
import { copiesSentence, formatBytes, formatItems, formatNames, shownBytesMax } from '@lockstep/shared/present';
import { Alert, Anchor, Button, Group, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { contentUrl, downloadUrl } from '../../parts/content-url.ts';
import { conflictLink, pathLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import type { Action } from '../../parts/use-action.ts';
import { EntryActions } from './entry-actions.tsx';
import { nameOf, typeOf } from './listing.ts';
import classes from './path-panel.module.css';
import { Versions } from './versions.tsx';
import { Waiting } from './waiting.tsx';

const kinds = { file: 'File', directory: 'Folder', symlink: 'Symbolic link', absent: 'Deleted' } as const;

/** The details of one path: its version, its holders, what it waits for, and its history. */
export function PathPanel({ report, run }: { readonly report: PathReport; readonly run: Action['run'] }) {
  const { path, heads, holders, waitsFor, problem } = report;
  const [head] = heads;
  const byName = [...holders].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <Paper withBorder p="md" component="section" aria-label={`About ${path}`} className={classes.panel}>
      <div>
        <Title order={2} size="h4" className={classes.title}>
          {nameOf(path)}
        </Title>
        <Text c="dimmed" size="sm">
          {head === undefined ? 'Not replicated' : kinds[typeOf(head)]}
          {report.ignored && ', ignored by a rule of .lockstepignore'}
        </Text>
      </div>
      {heads.length > 1 && (
        <Alert
          color="orange"
          variant="outline"
          classNames={{ title: classes.warning }}
          title={`${heads.length} concurrent versions`}
          p="sm"
        >
          {formatNames(heads.map((each) => (each.writer ?? each).memberName))} changed it independently. A conflict copy
          is being made of the version that loses the name.
        </Alert>
      )}
      {report.changing && (
        <Text size="sm">
          It may have changed on this disk, and is read once it is at rest: a new version may follow.
        </Text>
      )}
      {report.behind > 0 && (
        <Text size="sm">
          This member lacks {formatItems(report.behind, 'operation')} that others know, and may not know the newest
          version.
        </Text>
      )}
      <ConflictNote report={report} />
      <Group gap="xs">
        {report.disk !== null && (report.disk.type === 'file' || report.remote) && (
          <Download path={path} disk={report.disk} size={head?.size} />
        )}
        <EntryActions key={path} report={report} run={run} />
      </Group>
      {problem !== null && (
        <Alert color="red" variant="outline" title="Problem" p="sm">
          {problem.detail}
        </Alert>
      )}
      {head !== undefined && <Facts head={head} />}
      {holders.length > 0 && (
        <section aria-labelledby="holders">
          <Title order={3} size="h5" id="holders">
            Held by {heldText(report)}
          </Title>
          {report.copies !== undefined && <Text size="sm">{copiesSentence(report.copies)}</Text>}
          <ul className={classes.holders}>
            {byName.map(({ member, name, condition, holds, onDemand, unknown, had }) => (
              <li key={member} data-holds={onDemand && !holds ? undefined : holds}>
                <span className={classes.member}>{name}</span>
                <StateMark condition={condition} />
                <span className={classes.has}>
                  {holdsText(holds, {
                    isRemote: onDemand === true && !report.copies?.placedOn.includes(name),
                    unknown,
                    had,
                  })}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Waiting key={`waiting ${path}`} reasons={waitsFor} />
      {report.log.length > 0 && <Versions key={path} report={report} />}
    </Paper>
  );
}

/** How many have it, of those that are to have it, or of all if none has the whole folder. */
function heldText({ holders, copies }: PathReport): string {
  const present = holders.filter(({ condition }) => condition !== 'left');
  const full = present.filter(({ onDemand }) => !onDemand);
  const counted = full.length === 0 || copies !== undefined ? present : full;
  const holding = counted.filter(({ holds }) => holds).length;
  if (copies !== undefined) return formatItems(holding, 'member');
  return `${holding} of ${formatItems(counted.length, 'member')}`;
}

/** `isRemote`: it fetches the file when it is read, and is not to keep a copy. */
function holdsText(
  holds: boolean,
  {
    isRemote,
    unknown,
    had,
  }: { readonly isRemote: boolean; readonly unknown: true | undefined; readonly had: true | undefined },
): string {
  if (holds) return 'has it';
  if (had) return 'had it';
  if (unknown) return 'unknown';
  return isRemote ? 'if read' : 'not yet';
}

/** Links to the conflict copies of a path, or from a conflict copy to its original. */
function ConflictNote({ report: { path, copyOf, conflictCopies } }: { readonly report: PathReport }) {
  const others = copyOf === undefined ? conflictCopies : [copyOf];
  if (others.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="outline"
      classNames={{ title: classes.warning }}
      title={copyOf === undefined ? 'In conflict' : 'Conflict copy'}
      p="sm"
    >
      {copyOf === undefined
        ? 'It was changed on two members at once. The version that lost the name is kept as '
        : 'It is the version that lost the name to '}
      {others.map((other, index) => (
        <span key={other} className={classes.other}>
          {index > 0 && ', '}
          <Anchor component={Link} href={pathLink(other)} inherit>
            {nameOf(other)}
          </Anchor>
        </span>
      ))}
      .{' '}
      <Anchor component={Link} href={conflictLink(copyOf === undefined ? (others[0] ?? '') : path)} inherit>
        Compare and settle
      </Anchor>
    </Alert>
  );
}

/** The file as this member's disk has it, to open in a tab of its own or to save. */
function Download({
  path,
  disk,
  size = 0,
}: {
  readonly path: string;
  readonly disk: NonNullable<PathReport['disk']>;
  readonly size: number | undefined;
}) {
  const version = { path, origin: disk.origin, seq: disk.seq };
  const isShown = size <= shownBytesMax(path);
  return (
    <>
      {isShown && (
        <Button component="a" href={contentUrl(version)} target="_blank" rel="noopener" variant="default" size="xs">
          Open
        </Button>
      )}
      <Button component="a" href={downloadUrl(version)} download variant="default" size="xs">
        Download
      </Button>
    </>
  );
}

function Facts({ head }: { readonly head: PathReport['heads'][number] }) {
  const wrote = head.writer ?? head;
  return (
    <dl className={classes.facts}>
      {head.size !== undefined && (
        <>
          <dt>Size</dt>
          <dd>{formatBytes(head.size)}</dd>
        </>
      )}
      {head.target !== undefined && (
        <>
          <dt>Target</dt>
          <dd>{head.target}</dd>
        </>
      )}
      <dt>{head.kind === 'delete' ? 'Deleted by' : 'Last written by'}</dt>
      <dd>
        {wrote.memberName}, <Moment at={wrote.at} />
      </dd>
      <dt>Version</dt>
      <dd title={`${head.origin}:${head.seq}`}>
        operation {head.seq} of {head.memberName}
      </dd>
    </dl>
  );
}
