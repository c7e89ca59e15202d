import { Button, Group } from '@mantine/core';
import { useMemo, useState } from 'react';
import classes from './diff-table.module.css';
import { DiffTable, rowsMax } from './diff-table.tsx';
import { type Picks, resultBytes, resultLines } from './pick-lines.ts';
import { PlaceChoice } from './place-choice.tsx';
import { ResultPreview } from './result-preview.tsx';
import { differInEndingsOnly, diffParts, diffRows } from './text-diff.ts';

/** Two texts, how they differ, and a way to make one text of the lines of both. */
export function TextComparison({
  left,
  right,
  names,
  isBusy,
  save,
}: {
  readonly left: string;
  readonly right: string;
  /** The titles of the left and the right version. */
  readonly names: readonly [string, string];
  readonly isBusy: boolean;
  /** Settles the conflict by this content. */
  readonly save: (content: Uint8Array<ArrayBuffer>) => void;
}) {
  const parts = useMemo(() => diffParts(left, right), [left, right]);
  const rows = useMemo(() => parts && diffRows(parts), [parts]);
  const [picks, setPicks] = useState<Picks>();
  if (differInEndingsOnly(left, right)) {
    return (
      <p className={classes.note}>Both versions have the same text; only the line endings differ. Keep one of them.</p>
    );
  }
  if (parts === undefined || rows === undefined) {
    return (
      <p className={classes.note}>
        These versions differ too much to compare them here, or to pick lines: download both, and compare them with a
        program of your own.
      </p>
    );
  }
  const places = parts.filter(({ kind }) => kind === 'changed');
  if (places.length === 0) return <p className={classes.note}>Both versions have the same lines.</p>;
  const result = picks && resultLines(parts, picks);
  return (
    <>
      <DiffTable
        rows={rows}
        names={names}
        choice={
          picks &&
          ((place) => (
            <PlaceChoice
              place={place}
              places={places.length}
              names={names}
              lines={[places[place]?.left.length ?? 0, places[place]?.right.length ?? 0]}
              pick={picks.get(place) ?? 'left'}
              choose={(pick) => setPicks(new Map(picks).set(place, pick))}
            />
          ))
        }
      />
      {rows.length > rowsMax ? (
        <p className={classes.note}>Too many lines differ to pick them here: one version can be kept as a whole.</p>
      ) : result === undefined ? (
        <Group>
          <Button variant="default" size="xs" onClick={() => setPicks(new Map())}>
            Pick lines
          </Button>
        </Group>
      ) : (
        <>
          <ResultPreview lines={result} names={names} />
          <Group gap="xs">
            <Button size="xs" disabled={isBusy} onClick={() => save(resultBytes(result))}>
              Save this result
            </Button>
            <Button variant="default" size="xs" disabled={isBusy} onClick={() => setPicks(undefined)}>
              Cancel
            </Button>
          </Group>
        </>
      )}
    </>
  );
}
