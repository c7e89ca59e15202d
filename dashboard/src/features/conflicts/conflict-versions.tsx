import type { Conflict, Keep, TreeEntry } from '@lockstep/shared/api';
import { formatBytes } from '@lockstep/shared/present';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { downloadUrl } from '../../parts/content-url.ts';
import { Moment } from '../../parts/moment.tsx';
import classes from './conflict-versions.module.css';
import { loadContent, type ShownContent } from './shown-content.ts';
import { TextComparison } from './text-comparison.tsx';

/** Both versions of a conflict side by side, and the choice between them. */
export function ConflictVersions({
  conflict,
  isBusy,
  choose,
  save,
}: {
  readonly conflict: Conflict;
  readonly isBusy: boolean;
  readonly choose: (keep: Keep) => void;
  /** Settles it by a text of lines of both versions. */
  readonly save: (content: Uint8Array<ArrayBuffer>) => void;
}) {
  const { copy, original, loserAt, winnerAt } = conflict;
  const names = versionNames(conflict);
  const left = useContent(original);
  const right = useContent(copy);
  const isText = left?.kind === 'text' && right?.kind === 'text';
  return (
    <Stack gap="sm">
      <div className={classes.versions}>
        <Version
          title={names.original}
          place="the current version, which has the name"
          entry={original}
          at={winnerAt}
          content={isText ? undefined : left}
          action={
            original && (
              <Button variant="default" size="xs" disabled={isBusy} onClick={() => choose('original')}>
                Keep {names.original}
              </Button>
            )
          }
        />
        <Version
          title={names.copy}
          place="the other version, in the conflict copy"
          entry={copy}
          at={loserAt}
          content={isText ? undefined : right}
          action={
            original?.type !== 'directory' && (
              <Button variant="default" size="xs" disabled={isBusy} onClick={() => choose('copy')}>
                Keep {names.copy}
              </Button>
            )
          }
        />
      </div>
      {(right === undefined || (original !== null && left === undefined)) && <Skeleton height={72} />}
      {isText && (
        <TextComparison
          // A version that changed meanwhile is another comparison: picks are places in this one.
          key={`${versionOf(original)}\n${versionOf(copy)}`}
          left={left.text}
          right={right.text}
          names={[names.original, names.copy]}
          isBusy={isBusy}
          save={save}
        />
      )}
      <Group gap="sm" justify="space-between">
        <Text size="sm" c="dimmed" maw="44rem">
          Keeping both versions gives the copy an ordinary name next to the original. What is replaced or removed stays
          in history for a while, so that this can be undone below.
        </Text>
        <Button variant="default" size="xs" disabled={isBusy} onClick={() => choose('both')}>
          Keep both versions
        </Button>
      </Group>
    </Stack>
  );
}

/** The two versions by their writers; if one member wrote both, also by their places. */
export function versionNames({ winner, loser }: Pick<Conflict, 'winner' | 'loser'>): {
  readonly original: string;
  readonly copy: string;
} {
  if (winner === loser) return { original: `${winner}’s current version`, copy: `${loser}’s copy` };
  return { original: winner === null ? 'Nothing' : `${winner}’s version`, copy: `${loser}’s version` };
}

function Version({
  title,
  place,
  entry,
  at,
  content,
  action,
}: {
  readonly title: string;
  readonly place: string;
  readonly entry: TreeEntry | null;
  readonly at: number | null;
  readonly content: ShownContent | undefined;
  readonly action: React.ReactNode;
}) {
  return (
    <section className={classes.version} aria-label={title}>
      <Group justify="space-between" gap="xs" align="start">
        <div>
          <Text fw={600}>{title}</Text>
          <Text size="sm" c="dimmed" component="div">
            {entry === null ? 'It was deleted or moved away.' : place}
            {at !== null && at > 0 && (
              <>
                , written <Moment at={at} />
              </>
            )}
            {entry?.size !== undefined && `, ${formatBytes(entry.size)}`}
          </Text>
        </div>
        <Group gap="xs">
          {entry?.type === 'file' && (
            <Button component="a" href={downloadUrl(entry)} download variant="subtle" size="xs">
              Download
            </Button>
          )}
          {action}
        </Group>
      </Group>
      {content?.kind === 'picture' && entry && <Picture url={content.url} title={title} />}
      {content?.kind === 'none' && (
        <Text size="sm" className={classes.reason}>
          {content.reason}
        </Text>
      )}
      {content?.kind === 'text' && <pre className={classes.text}>{content.text}</pre>}
    </section>
  );
}

function Picture({ url, title }: { readonly url: string; readonly title: string }) {
  const [isBroken, setBroken] = useState(false);
  const [size, setSize] = useState<string>();
  if (isBroken) {
    return (
      <Text size="sm" className={classes.reason}>
        This picture cannot be shown.
      </Text>
    );
  }
  return (
    <figure className={classes.figure}>
      <img
        src={url}
        alt={title}
        className={classes.picture}
        onError={() => setBroken(true)}
        onLoad={({ currentTarget }) => setSize(`${currentTarget.naturalWidth} × ${currentTarget.naturalHeight}`)}
      />
      <figcaption className={classes.caption}>{size ?? '\u00A0'}</figcaption>
    </figure>
  );
}

/** The content of an entry, loaded once for each version; undefined while it loads, and for no entry. */
function useContent(entry: TreeEntry | null): ShownContent | undefined {
  const [loaded, setLoaded] = useState<{ readonly version: string; readonly content: ShownContent }>();
  const version = versionOf(entry);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version identifies the content; each answer brings a new entry object
  useEffect(() => {
    if (entry === null) return;
    const controller = new AbortController();
    void loadContent(entry, controller.signal).then((content) => {
      if (!controller.signal.aborted) setLoaded({ version, content });
    });
    return () => controller.abort();
  }, [version]);
  return loaded?.version === version ? loaded.content : undefined;
}

function versionOf(entry: TreeEntry | null): string {
  return entry === null ? '' : `${entry.path}\n${entry.origin}:${entry.seq}`;
}
