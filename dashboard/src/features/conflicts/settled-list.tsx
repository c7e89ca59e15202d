import type { SettledConflict } from '@lockstep/shared/api';
import { Alert, Button, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { pathLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import classes from './settled-list.module.css';
import type { Undo } from './use-undo.ts';

/** The conflicts that were settled, newest first, each with a way back. */
export function SettledList({
  settled,
  asked,
  undo: { undoing, refusals, undo },
}: {
  readonly settled: readonly SettledConflict[];
  /** The path in the address, of a copy or its original: that conflict is marked. */
  readonly asked: string | null;
  readonly undo: Undo;
}) {
  if (settled.length === 0) return null;
  return (
    <section aria-labelledby="settled" className={classes.settled}>
      <Title order={2} size="h4" id="settled">
        Settled
      </Title>
      <Paper withBorder component="ul" className={classes.items}>
        {settled.map((each) => {
          const { copy, path, settledBy, by, at, changed } = each;
          const refusal = refusals.get(settledBy);
          return (
            <li
              key={settledBy}
              className={classes.item}
              aria-current={asked === copy || asked === path ? 'true' : undefined}
            >
              <div>
                <Link href={pathLink(path)} className={classes.path}>
                  {path}
                </Link>
                <Text size="sm" c="dimmed" component="div">
                  {deedOf(each)}, by {by} <Moment at={at} />
                </Text>
                {changed !== undefined && (
                  <Text size="sm" c="dimmed">
                    {changed}
                  </Text>
                )}
                {refusal !== undefined && (
                  <Alert color="orange" variant="outline" role="alert" p="xs" mt="xs" title="This was not undone">
                    {refusal}
                  </Alert>
                )}
              </div>
              {changed === undefined && (
                <Button
                  variant="default"
                  size="xs"
                  aria-label={`Undo: ${path}, ${deedOf(each)}`}
                  loading={undoing === settledBy}
                  disabled={undoing !== undefined}
                  onClick={() => void undo(each)}
                >
                  Undo
                </Button>
              )}
            </li>
          );
        })}
      </Paper>
    </section>
  );
}

/** The settlement of the conflict, in words. */
function deedOf({ how, loser, to = '' }: SettledConflict): string {
  switch (how) {
    case 'original':
      return `${loser}’s version was removed`;
    case 'copy':
      return `${loser}’s version got the name`;
    case 'both':
      return `${loser}’s version became ${to}`;
    case 'merged':
      return 'a new version replaced both';
  }
}
