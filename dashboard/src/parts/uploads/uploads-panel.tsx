import type { Status } from '@lockstep/shared/api';
import { formatBytes, formatCount, formatItems } from '@lockstep/shared/present';
import { Button, CloseButton, Group, Paper, Text } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import { useStatus } from '../../live/status-context.ts';
import type { Batch } from './uploader.ts';
import { uploads } from './uploads.ts';
import classes from './uploads-panel.module.css';

/** Names and reasons that are listed; more are counted. */
const listedMax = 5;

/** Nothing says when a member on demand has fetched the copy that it is to keep: it is asked so often. */
const copiesEveryMs = 2_000;

/** The uploads of this page: the bytes in flight, then the number of members that have them. Nothing if there are none. */
export function UploadsPanel() {
  const batches = useSyncExternalStore(uploads.subscribe, uploads.get);
  const trigger = spreadTrigger(useStatus());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the trigger says that other members may hold more
  useEffect(() => void uploads.follow(), [trigger]);
  const isCopied = batches.some(({ spread }) => spread?.isPart === true && spread.on < spread.of);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setInterval(() => void uploads.follow(), copiesEveryMs);
    return () => clearInterval(timer);
  }, [isCopied]);
  if (batches.length === 0) return null;
  return (
    <section aria-label="Uploads" className={classes.panel}>
      {batches.map((batch) => (
        <BatchItem key={batch.id} batch={batch} />
      ))}
    </section>
  );
}

/** A text that changes whenever a member may hold more than before. */
function spreadTrigger({ operations, members }: Status): string {
  return [operations, ...members.map(({ state, behind }) => `${state}${behind}`)].join(' ');
}

function BatchItem({ batch }: { readonly batch: Batch }) {
  const { id, bytes, sentBytes, isSending, taken, failed } = batch;
  return (
    <Paper withBorder p="sm" className={classes.batch}>
      <Group justify="space-between" wrap="nowrap" gap="xs" align="start">
        <Text role="status" className={classes.said}>
          {sentenceOf(batch)}
        </Text>
        {isSending ? (
          <Button variant="default" size="compact-sm" onClick={() => uploads.stop(id)}>
            Stop
          </Button>
        ) : (
          <CloseButton size="sm" aria-label="Close" onClick={() => uploads.close(id)} />
        )}
      </Group>
      {isSending && (
        <>
          <progress className={classes.bar} value={sentBytes} max={Math.max(bytes, 1)} aria-label="Bytes sent" />
          <Text size="sm" c="dimmed" className={classes.numbers}>
            {formatBytes(sentBytes)} of {formatBytes(bytes)}
          </Text>
        </>
      )}
      {!isSending && taken.length > 0 && (
        <div>
          <Text size="sm">
            {taken.length === 1
              ? 'This name is taken by another file'
              : `${formatCount(taken.length)} names are taken by other files`}
            : {listed(taken)}. A file that is replaced stays in its list of versions.
          </Text>
          <Group gap="xs" mt={6}>
            <Button size="xs" variant="default" onClick={() => uploads.replace(id)}>
              Replace {taken.length === 1 ? 'it' : 'them'}
            </Button>
            <Button size="xs" variant="default" onClick={() => uploads.leave(id)}>
              Leave {taken.length === 1 ? 'it' : 'them'} as {taken.length === 1 ? 'it is' : 'they are'}
            </Button>
          </Group>
        </div>
      )}
      {failed.length > 0 && (
        <div role="alert">
          <ul className={classes.reasons}>
            {failed.slice(0, listedMax).map(({ path, reason }) => (
              <li key={path}>
                <b>{path}</b>: {reason}
              </li>
            ))}
            {failed.length > listedMax && <li>{formatCount(failed.length - listedMax)} more</li>}
          </ul>
          {!isSending && (
            <Button size="xs" variant="default" mt={6} onClick={() => uploads.retry(id)}>
              Try again
            </Button>
          )}
        </div>
      )}
    </Paper>
  );
}

/** How far a batch is, in one sentence. */
function sentenceOf({ directory, count, there, isSending, taken, failed, spread }: Batch): string {
  const where = directory === '' ? 'the folder' : directory;
  const done = count > 1 ? `: ${formatCount(there)} sent` : '';
  if (isSending) return `Sending ${formatItems(count, 'file')} to ${where}${done}.`;
  const missing = [
    ...(taken.length > 0 ? [`${formatCount(taken.length)} not sent`] : []),
    ...(failed.length > 0 ? [`${formatCount(failed.length)} failed`] : []),
  ];
  const rest = missing.length === 0 ? '' : ` ${missing.join(', ')}.`;
  if (there === 0) return `Nothing was put into ${where}.${rest}`;
  const are = `${formatItems(there, 'file')} in ${where} ${there === 1 ? 'is' : 'are'}`;
  if (spread === undefined) return `${are} sent.${rest}`;
  const isWhole = spread.on === spread.of;
  const why = spread.why === undefined ? '' : ` ${spread.why}`;
  const of = formatItems(spread.of, 'member');
  if (!spread.isPart) return `${are} on ${isWhole ? 'all' : `${spread.on} of`} ${of}.${why}${rest}`;
  const keepers = `the ${of} that ${spread.of === 1 ? 'is' : 'are'} to keep ${there === 1 ? 'it' : 'them'}`;
  return `${are} on ${isWhole ? '' : `${spread.on} of `}${keepers}.${why}${rest}`;
}

function listed(names: readonly string[]): string {
  const first = names.slice(0, listedMax).join(', ');
  return names.length > listedMax ? `${first} and ${formatCount(names.length - listedMax)} more` : first;
}
