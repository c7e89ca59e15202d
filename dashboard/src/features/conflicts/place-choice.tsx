import { formatItems } from '@lockstep/shared/present';
import { useId } from 'react';
import classes from './pick-lines.module.css';
import type { Pick } from './pick-lines.ts';

/** The choice of the lines to take at one place at which two texts differ. */
export function PlaceChoice({
  place,
  places,
  names: [left, right],
  lines,
  pick,
  choose,
}: {
  readonly place: number;
  readonly places: number;
  readonly names: readonly [string, string];
  /** The number of lines that each version has there. */
  readonly lines: readonly [number, number];
  readonly pick: Pick;
  readonly choose: (pick: Pick) => void;
}) {
  const group = useId();
  const of = (name: string, count: number): string =>
    count === 0 ? `nothing, as ${name}` : `${name}, ${formatItems(count, 'line')}`;
  const choices: readonly (readonly [Pick, string])[] = [
    ['left', of(left, lines[0])],
    ['right', of(right, lines[1])],
    ...(lines[0] > 0 && lines[1] > 0
      ? ([
          ['left-right', `both, ${left} first`],
          ['right-left', `both, ${right} first`],
        ] as const)
      : []),
  ];
  return (
    <fieldset className={classes.place}>
      <legend className={classes.legend}>
        Place {place + 1} of {places}
      </legend>
      {choices.map(([value, text]) => (
        <label key={value} className={classes.choice}>
          <input type="radio" name={group} checked={pick === value} onChange={() => choose(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
